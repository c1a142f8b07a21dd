use proptest::prelude::*;

use super::*;

fn conflict(base: &str, ours: &str, theirs: &str) -> String {
    merge(base, ours, theirs).unwrap_err().marked
}

#[test]
fn changes_of_different_lines_are_merged() {
    let base = "a\nb\nc\nd\ne\n";
    assert_eq!(merge(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").unwrap(), "A\nb\nc\nd\nE\n");
    assert_eq!(merge(base, "new\na\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\nlast").unwrap(), "new\na\nb\nc\nd\ne\nlast");
    assert_eq!(merge(base, "a\ne\n", base).unwrap(), "a\ne\n");
    assert_eq!(merge(base, "a\nc\nd\ne\n", "a\nb\nc\nd\n").unwrap(), "a\nc\nd\n");
}

#[test]
fn the_same_change_on_both_sides_is_applied_once() {
    assert_eq!(merge("a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n").unwrap(), "a\nx\nc\n");
    assert_eq!(merge("", "a\n", "a\n").unwrap(), "a\n");
}

#[test]
fn changes_of_the_same_lines_are_a_conflict() {
    let marked = "a\n<<<<<<< ours\nx\n||||||| original\nb\n=======\ny\n>>>>>>> theirs\nc\n";
    assert_eq!(conflict("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"), marked);
    assert!(conflict("a\nb\nc\n", "a\nx\nb\nc\n", "a\ny\nb\nc\n").contains("=======\ny\n"));
    assert!(conflict("a\nb\nc\n", "a\nc\n", "a\nb2\nc\n").contains("<<<<<<< ours\n|||||||"));
    assert!(conflict("a\nb", "a\nx", "a\ny").ends_with("y\n>>>>>>> theirs\n"));
}

#[test]
fn our_lines_are_kept_at_conflicts_together_with_other_changes() {
    let conflict = merge("a\nb\nc\nd\ne\n", "a\nx\nc\nd\ne\n", "a\ny\nc\nd\nE\n").unwrap_err();
    assert_eq!(conflict.ours, "a\nx\nc\nd\nE\n");
}

#[test]
fn changes_of_adjacent_lines_are_a_conflict() {
    assert!(merge("a\nb\nc\n", "x\nb\nc\n", "a\ny\nc\n").is_err());
    assert!(merge("a\nb\nc\nd\n", "x\nb\nc\nd\n", "a\nb\ny\nd\n").is_ok());
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc]{0,1}\n", 0..12).prop_map(|lines| lines.concat())
}

proptest! {
    /// If one side has no changes, the result is the other side. The sides are interchangeable.
    #[test]
    fn a_merge_has_both_changes(base in text(), ours in text(), theirs in text()) {
        prop_assert_eq!(merge(&base, &ours, &base), Ok(ours.clone()));
        prop_assert_eq!(merge(&base, &base, &theirs), Ok(theirs.clone()));
        prop_assert_eq!(merge(&base, &ours, &ours), Ok(ours.clone()));
        let (merged, swapped) = (merge(&base, &ours, &theirs), merge(&base, &theirs, &ours));
        prop_assert_eq!(merged.as_ref().ok(), swapped.as_ref().ok());
    }
}
