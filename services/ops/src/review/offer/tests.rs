use super::*;

#[test]
fn a_conflict_shows_both_texts() {
    let shown = show_conflict("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n");
    assert!(shown.contains("<<<<<<<") && shown.contains("mine") && shown.contains("theirs"), "{shown}");
}
