use super::*;

const SAME: Sides = Sides { is_here: true, is_there: true, was_same: true, changed_here: false, changed_there: false };
const BOTH: Sides = Sides { changed_here: true, changed_there: true, ..SAME };
const MISSING: Sides = Sides { is_here: false, changed_here: true, ..SAME };
const GONE: Sides = Sides { is_there: false, changed_there: true, ..SAME };
const NEW_THERE: Sides =
    Sides { is_here: false, is_there: true, was_same: false, changed_here: false, changed_there: true };

/// What is done by default, with `--push` and with `--pull`.
fn steps(sides: Sides, deletes: bool) -> [Step; 3] {
    [Mode::Careful, Mode::Push, Mode::Pull].map(|mode| decide(sides, mode, deletes))
}

#[test]
fn whoever_alone_has_changed_wins() {
    assert_eq!(steps(SAME, false), [Step::Agree; 3]);
    assert_eq!(steps(Sides { changed_here: true, ..SAME }, false), [Step::Send; 3]);
    let behind = Sides { changed_there: true, ..SAME };
    assert_eq!(steps(behind, false), [Step::TellBehind, Step::Send, Step::Write]);
    let new_here = Sides { is_there: false, was_same: false, changed_here: true, ..SAME };
    assert_eq!(steps(new_here, false), [Step::Send; 3]);
    assert_eq!(steps(NEW_THERE, true), [Step::TellBehind, Step::TellBehind, Step::Write]);
}

#[test]
fn where_both_have_changed_somebody_has_to_say_who_wins() {
    assert_eq!(steps(BOTH, true), [Step::TellConflict, Step::Send, Step::Write]);
    let unknown = Sides { was_same: false, ..BOTH };
    assert_eq!(steps(unknown, true), [Step::TellConflict, Step::Send, Step::Write]);
}

#[test]
fn what_is_gone_on_one_side_goes_on_the_other_only_where_that_is_asked_for() {
    assert_eq!(steps(MISSING, false), [Step::TellMissing; 3]);
    assert_eq!(steps(MISSING, true), [Step::DeleteThere; 3]);
    let newer_there = Sides { changed_there: true, ..MISSING };
    assert_eq!(steps(newer_there, false), [Step::TellMissing, Step::TellMissing, Step::Write]);
    assert_eq!(steps(newer_there, true), [Step::TellConflict, Step::DeleteThere, Step::Write]);
    assert_eq!(steps(GONE, false), [Step::TellGone, Step::Send, Step::TellGone]);
    assert_eq!(steps(GONE, true), [Step::TellGone, Step::Send, Step::RemoveHere]);
    let newer_here = Sides { changed_here: true, ..GONE };
    assert_eq!(steps(newer_here, true), [Step::TellConflict, Step::Send, Step::TellConflict]);
    assert_eq!(steps(Sides { is_here: false, ..GONE }, true), [Step::Forget; 3]);
}

#[test]
fn half_of_a_pull_is_no_change() {
    let files = |texts: &[(&str, &str)]| -> Files {
        texts.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned())).collect()
    };
    let (old, new) = (files(&[("SKILL.md", "1"), ("a", "1"), ("b", "1")]), files(&[("SKILL.md", "2"), ("a", "2")]));
    assert!(!has_own_change(&files(&[("SKILL.md", "1"), ("a", "2"), ("b", "1")]), &old, &new));
    assert!(!has_own_change(&files(&[("SKILL.md", "2"), ("a", "2"), ("b", "1")]), &old, &new));
    assert!(has_own_change(&files(&[("SKILL.md", "3"), ("a", "2"), ("b", "1")]), &old, &new));
    assert!(has_own_change(&files(&[("SKILL.md", "1"), ("a", "1"), ("b", "1"), ("c", "1")]), &old, &new));
    assert!(has_own_change(&files(&[("SKILL.md", "1")]), &files(&[("SKILL.md", "1"), ("a", "1")]), &new));
    let gone = Files::new();
    assert!(!has_own_change(&files(&[("SKILL.md", "1"), ("b", "1")]), &old, &gone));
}
