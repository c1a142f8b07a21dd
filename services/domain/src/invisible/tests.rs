use super::*;

#[test]
fn what_nobody_sees_is_written_out() {
    assert_eq!(show_invisible("a\u{200b}b\r\n\tc\u{e0041}\u{1b}"), "a<U+200B>b<U+000D>\n\tc<U+E0041><U+001B>");
}
