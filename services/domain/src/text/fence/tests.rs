use super::FenceLine::{Code, Mark, Outside};
use super::*;

#[test]
fn only_enough_marks_of_the_same_kind_close_a_block() {
    let mut fence = Fence::default();
    for (line, is) in [
        ("text", Outside),
        ("``` not `code`", Outside),
        ("```code```", Outside),
        ("``", Outside),
        ("  ```` rust", Mark),
        ("", Code),
        ("```", Code),
        ("~~~~", Code),
        ("```` rust", Code),
        ("````` ", Mark),
        ("~~~ a `b`", Mark),
        ("```", Code),
        ("~~~", Mark),
        ("text", Outside),
        ("```", Mark),
        ("never closed", Code),
    ] {
        assert_eq!(fence.read(line), is, "{line:?}");
    }
}
