use super::*;

#[test]
fn all_three_line_ends_are_supported() {
    let text = "a\nb\r\nc\r\rd";
    let parts: Vec<&str> = split(text).iter().map(|line| &text[line.text()]).collect();
    assert_eq!(parts, ["a", "b", "c", "", "d"]);
    assert_eq!((number_of(text, 5), number_of(text, 8), start_of(text, 8)), (3, 5, 8));
    assert_eq!((ending("a\r\nb\n"), ending("a\rb"), ending("a")), ("\r\n", "\r", "\n"));
    assert_eq!(convert("a\r\nb\rc\n", "\r\n"), "a\r\nb\r\nc\r\n");
    assert!(split("").is_empty());
}
