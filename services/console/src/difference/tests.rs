use std::time::{Duration, Instant};

use super::{Deadline, PartKind, RowKind, rows};

fn shown(diff: &str) -> Vec<(RowKind, String)> {
    shown_until(diff, Deadline(Instant::now() + Duration::from_secs(60)))
}

fn shown_until(diff: &str, deadline: Deadline) -> Vec<(RowKind, String)> {
    let mark = |kind, text: &str| match kind {
        PartKind::Same => text.to_owned(),
        PartKind::Changed => format!("[{text}]"),
        PartKind::Invisible => format!("({text})"),
    };
    let line = |row: &super::Row| row.parts.iter().map(|part| mark(part.kind, &part.text)).collect();
    rows(diff, deadline).iter().map(|row| (row.kind, line(row))).collect()
}

#[test]
fn changed_words_are_marked_on_both_sides() {
    let diff = "--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n one\n-send the old letter\n+send the new letter\n";
    let expected = [
        (RowKind::File, "version 1 → version 2"),
        (RowKind::Hunk, "@@ -1,2 +1,2 @@"),
        (RowKind::Same, "one"),
        (RowKind::Removed, "send the [old] letter"),
        (RowKind::Added, "send the [new] letter"),
    ];
    assert_eq!(shown(diff), expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn passages_with_nothing_in_common_are_not_marked() {
    let diff = "@@ -1 +1 @@\n-alpha beta gamma delta\n+one two three four five six seven\n";
    assert_eq!(
        shown(diff)[1..],
        [
            (RowKind::Removed, "alpha beta gamma delta".to_owned()),
            (RowKind::Added, "one two three four five six seven".to_owned())
        ]
    );
}

#[test]
fn a_removed_line_that_looks_like_a_header_stays_a_line() {
    let diff = "@@ -1,2 +1 @@\n--- \n rest\n";
    assert_eq!(shown(diff)[1], (RowKind::Removed, "-- ".to_owned()));
}

#[test]
fn lines_that_look_like_the_names_of_a_file_stay_lines() {
    let diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- an old rule\n+++ a new rule\n @@ -1 +1 @@\n--- c\n+++ d\n";
    let expected = [
        (RowKind::File, "a → b"),
        (RowKind::Hunk, "@@ -1,2 +1,2 @@"),
        (RowKind::Removed, "[--] [an] [old] rule"),
        (RowKind::Added, "[++] [a] [new] rule"),
        (RowKind::Same, "@@ -1 +1 @@"),
        (RowKind::File, "c → d"),
    ];
    assert_eq!(shown(diff), expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn words_are_not_compared_after_the_deadline() {
    let diff = "@@ -1 +1 @@\n-send the old letter\n+send the new letter\n";
    let late = shown_until(diff, Deadline(Instant::now() - Duration::from_millis(1)));
    assert_eq!(
        late[1..],
        [(RowKind::Removed, "send the old letter".to_owned()), (RowKind::Added, "send the new letter".to_owned()),]
    );
}

#[test]
fn code_points_of_invisible_characters_are_parts_of_their_own() {
    let row = shown("@@ -1 +1 @@\n a<U+200B>b <U+no> <U+1F600>").pop().unwrap();
    assert_eq!(row, (RowKind::Same, "a(<U+200B>)b <U+no> (<U+1F600>)".to_owned()));
}

#[test]
fn several_lines_are_compared_as_one_passage() {
    let diff = "@@ -1,2 +1,2 @@\n-first line here\n-second line here\n+first line here now\n+second line here\n";
    assert_eq!(
        shown(diff)[1..],
        [
            (RowKind::Removed, "first line here".to_owned()),
            (RowKind::Removed, "second line here".to_owned()),
            (RowKind::Added, "first line here[ now]".to_owned()),
            (RowKind::Added, "second line here".to_owned()),
        ]
    );
}

#[test]
fn a_missing_line_break_is_noted_if_only_one_side_lacks_it() {
    let both =
        "@@ -1 +1 @@\n-Be very kind.\n\\ No newline at end of file\n+Be very calm.\n\\ No newline at end of file\n";
    assert_eq!(
        shown(both)[1..],
        [(RowKind::Removed, "Be very [kind.]".to_owned()), (RowKind::Added, "Be very [calm.]".to_owned()),]
    );
    let before = "@@ -1 +1 @@\n-Be very kind.\n\\ No newline at end of file\n+Be very kind.\n";
    assert_eq!(shown(before)[3], (RowKind::Hunk, "No line break at the end before the change".to_owned()));
}
