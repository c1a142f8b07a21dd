use super::*;

fn name(texts: &[&str], group: &[usize]) -> String {
    Labels::of(texts.iter().copied()).name(group)
}

#[test]
fn a_group_is_labelled_with_its_shared_words() {
    let texts = ["reset the router now", "how to reset my router", "router reset, kitchen", "wash the car", "the car"];
    assert_eq!(name(&texts, &[0, 1, 2]), "router reset");
    assert_eq!(name(&["when to change my oil", "is the oil changed", "the car"], &[0, 1]), "change oil");
    assert_eq!(name(&["I lost my wallet", "where are the keys"], &[0, 1]), "lost wallet");
    assert_eq!(name(&["", "?!"], &[0, 1]), "");
}

#[test]
fn pieces_of_a_word_in_the_label_are_skipped() {
    assert_eq!(name(&["查询天气预报", "天气预报怎么样", "预报"], &[0, 1]), "天气预报");
}
