use super::FenceLine::{Code, Mark, Outside};
use super::*;

#[test]
fn a_block_is_closed_by_its_own_marks_alone() {
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
