use super::*;

const SAME: SkillSides =
    SkillSides { is_here: true, is_there: true, was_same: true, changed_here: false, changed_there: false };
const BOTH: SkillSides = SkillSides { changed_here: true, changed_there: true, ..SAME };
const MISSING: SkillSides = SkillSides { is_here: false, changed_here: true, ..SAME };
const GONE: SkillSides = SkillSides { is_there: false, changed_there: true, ..SAME };
const NEW_THERE: SkillSides =
    SkillSides { is_here: false, is_there: true, was_same: false, changed_here: false, changed_there: true };

/// Returns the steps in the three modes: the default, `--push` and `--pull`.
fn steps(sides: SkillSides, deletes: bool) -> [SyncStep; 3] {
    [Mode::Careful, Mode::Push, Mode::Pull].map(|mode| decide(sides, mode, deletes))
}

#[test]
fn a_change_on_one_side_wins() {
    assert_eq!(steps(SAME, false), [SyncStep::Agree; 3]);
    assert_eq!(steps(SkillSides { changed_here: true, ..SAME }, false), [SyncStep::Send; 3]);
    let behind = SkillSides { changed_there: true, ..SAME };
    assert_eq!(steps(behind, false), [SyncStep::TellBehind, SyncStep::Send, SyncStep::Write]);
    let new_here = SkillSides { is_there: false, was_same: false, changed_here: true, ..SAME };
    assert_eq!(steps(new_here, false), [SyncStep::Send; 3]);
    assert_eq!(steps(NEW_THERE, true), [SyncStep::TellBehind, SyncStep::TellBehind, SyncStep::Write]);
}

#[test]
fn changes_on_both_sides_are_a_conflict_unless_a_mode_decides() {
    assert_eq!(steps(BOTH, true), [SyncStep::TellConflict, SyncStep::Send, SyncStep::Write]);
    let unknown = SkillSides { was_same: false, ..BOTH };
    assert_eq!(steps(unknown, true), [SyncStep::TellConflict, SyncStep::Send, SyncStep::Write]);
}

#[test]
fn removals_are_carried_out_only_with_delete() {
    assert_eq!(steps(MISSING, false), [SyncStep::TellMissing; 3]);
    assert_eq!(steps(MISSING, true), [SyncStep::DeleteThere; 3]);
    let newer_there = SkillSides { changed_there: true, ..MISSING };
    assert_eq!(steps(newer_there, false), [SyncStep::TellMissing, SyncStep::TellMissing, SyncStep::Write]);
    assert_eq!(steps(newer_there, true), [SyncStep::TellConflict, SyncStep::DeleteThere, SyncStep::Write]);
    assert_eq!(steps(GONE, false), [SyncStep::TellGone, SyncStep::Send, SyncStep::TellGone]);
    assert_eq!(steps(GONE, true), [SyncStep::TellGone, SyncStep::Send, SyncStep::RemoveHere]);
    let newer_here = SkillSides { changed_here: true, ..GONE };
    assert_eq!(steps(newer_here, true), [SyncStep::TellConflict, SyncStep::Send, SyncStep::TellConflict]);
    assert_eq!(steps(SkillSides { is_here: false, ..GONE }, true), [SyncStep::Forget; 3]);
}

#[test]
fn an_interrupted_pull_is_not_a_change_of_the_user() {
    let files = |texts: &[(&str, &str)]| -> FileDigests {
        texts.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned())).collect()
    };
    let (old, new) = (files(&[("SKILL.md", "1"), ("a", "1"), ("b", "1")]), files(&[("SKILL.md", "2"), ("a", "2")]));
    assert!(!has_own_change(&files(&[("SKILL.md", "1"), ("a", "2"), ("b", "1")]), &old, &new));
    assert!(!has_own_change(&files(&[("SKILL.md", "2"), ("a", "2"), ("b", "1")]), &old, &new));
    assert!(has_own_change(&files(&[("SKILL.md", "3"), ("a", "2"), ("b", "1")]), &old, &new));
    assert!(has_own_change(&files(&[("SKILL.md", "1"), ("a", "1"), ("b", "1"), ("c", "1")]), &old, &new));
    assert!(has_own_change(&files(&[("SKILL.md", "1")]), &files(&[("SKILL.md", "1"), ("a", "1")]), &new));
    let gone = FileDigests::new();
    assert!(!has_own_change(&files(&[("SKILL.md", "1"), ("b", "1")]), &old, &gone));
}
