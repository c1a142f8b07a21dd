use super::*;

fn share(a: &str, b: &str) -> f32 {
    Passages::read(a).share_with(&Passages::read(b))
}

#[test]
fn passages_are_shared_by_texts_that_are_worded_alike() {
    assert_eq!(share("Open the file, copy lines", "opens files; copies lines"), 1.0);
    assert_eq!(share("open file copy line paste", "open file copy line print"), 0.5);
    assert_eq!(share("open file copy", "copy file open"), 0.0);
    assert_eq!(share("", ""), 0.0);
    assert_eq!(share("a few", "few"), 0.0);
    assert_eq!(share("查询天气", "查询天气"), 1.0);
}

#[test]
fn only_the_beginning_is_read() {
    let long = "open file copy line ".repeat(10_000);
    assert_eq!(share(&long, &format!("{long} other words at the end")), 1.0);
}
