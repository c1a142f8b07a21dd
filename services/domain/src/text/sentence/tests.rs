use super::*;

#[test]
fn texts_are_split_into_sentences() {
    let all = |text| sentences(text).collect::<Vec<_>>();
    assert_eq!(
        all("Hi! Do it, e.g. today. 1. Now\n\n- then?  Really"),
        ["Hi!", "Do it, e.g. today.", "1. Now", "then?", "Really"]
    );
    assert_eq!(all("你好。再见。"), ["你好。", "再见。"]);
    assert!(all(" \n\u{200b}\n").is_empty());
}

#[test]
fn cuts_end_at_words() {
    for (text, length, short) in [
        ("one two", 7, "one two"),
        ("one two", 6, "one…"),
        ("one two", 4, "one…"),
        ("one two", 3, "on…"),
        ("one, two", 6, "one…"),
        ("öäü ß", 4, "öäü…"),
        ("one", 1, "…"),
        ("one", 0, "…"),
        ("", 0, ""),
    ] {
        assert_eq!(cut(text, length), short, "{text} {length}");
    }
}
