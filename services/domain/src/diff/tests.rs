use std::time::Duration;

use super::*;

fn unified(from_label: &str, to_label: &str, from: &str, to: &str) -> String {
    let (from, to) = (Side { label: from_label, text: from }, Side { label: to_label, text: to });
    super::unified(from, to, Instant::now() + Duration::from_millis(100))
}

#[test]
fn changes_come_with_three_lines_of_context() {
    let from = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let to = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
    let expected = "--- version 1\n+++ version 2\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
    assert_eq!(unified("version 1", "version 2", from, to), expected);
}

#[test]
fn equal_texts_have_no_diff() {
    assert_eq!(unified("a", "b", "x\n", "x\n"), "");
}

#[test]
fn a_missing_final_line_end_is_told() {
    assert!(unified("a", "b", "x", "x\n").contains("\\ No newline at end of file"));
    assert!(unified("a\n+++ x", "b", "x", "y").starts_with("--- a +++ x\n"));
}

#[test]
fn hostile_input_ends_soon() {
    let from: String = (0..30_000_u64).map(|i| format!("{}\n", i * 7919 % 10_007)).collect();
    let to: String = (0..30_000_u64).map(|i| format!("{}\n", i * 104_729 % 9_973)).collect();
    let start = Instant::now();
    assert!(!unified("a", "b", &from, &to).is_empty());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
