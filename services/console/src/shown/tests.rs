use chrono::{DateTime, TimeDelta};

use super::{Block, Line, When, lines_like, size, unix_lines};

#[test]
fn hidden_characters_become_code_points() {
    assert_eq!(Line("a\u{202e}b\nc".into()).to_string(), "a<U+202E>b<U+000A>c");
    assert_eq!(Block("a\u{200b}b\n\tc".into()).to_string(), "a<U+200B>b\n\tc");
}

#[test]
fn a_time_is_shown_as_its_distance() {
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
    let ago = |seconds| When::new(now - TimeDelta::seconds(seconds), now).to_string();
    for (seconds, shown) in [
        (-30, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (7_200, "2 h ago"),
        (86_400 * 3, "3 d ago"),
        (86_400 * 40, "2024-08-25"),
        (-86_400, "2024-10-05"),
    ] {
        assert_eq!(ago(seconds), shown, "{seconds}");
    }
}

#[test]
fn sizes_have_a_unit() {
    assert_eq!([0, 1023, 1024, 1_572_864].map(size), ["0 B", "1023 B", "1.0 KiB", "1.5 MiB"]);
    assert_eq!(unix_lines("a\r\nb\nc"), "a\nb\nc");
}

#[test]
fn a_typed_text_keeps_the_line_breaks_of_the_stored_one() {
    assert_eq!(lines_like("a\r\nb\r\n", "a\nc\n"), "a\r\nc\r\n");
    assert_eq!(lines_like("a\nb\n", "a\nc\n"), "a\nc\n");
    assert_eq!(lines_like("a\r\nb\nc\n", "a\nc\n"), "a\nc\n");
    assert_eq!(lines_like("a\r\nb\nc\n", "a\nb\nc\n"), "a\r\nb\nc\n", "the same text stays as it is");
    assert_eq!(lines_like("", "a\n"), "a\n");
}
