use super::*;

fn share(a: &str, b: &str) -> f32 {
    PassageHashes::read(a).share_with(&PassageHashes::read(b))
}

#[test]
fn texts_with_similar_wording_share_passages() {
    assert_eq!(share("Open the file, copy lines", "opens files; copies lines"), 1.0);
    assert_eq!(share("open file copy line paste", "open file copy line print"), 0.5);
    assert_eq!(share("open file copy", "copy file open"), 0.0);
    assert_eq!(share("", ""), 0.0);
    assert_eq!(share("a few", "few"), 0.0);
    assert_eq!(share("查询天气", "查询天气"), 1.0);
}

#[test]
fn only_the_first_characters_are_read() {
    let long = "open file copy line ".repeat(10_000);
    assert_eq!(share(&long, &format!("{long} other words at the end")), 1.0);
}
