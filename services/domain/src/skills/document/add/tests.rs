use super::*;

#[test]
fn the_changed_range_excludes_the_common_start_and_end() {
    for (before, after, gone) in [
        ("abc", "abxc", 2..2),
        ("abc", "abbc", 2..2),
        ("abab", "ababab", 4..4),
        ("abc", "axc", 1..2),
        ("abc", "ac", 1..2),
        ("", "x", 0..0),
    ] {
        assert_eq!(changed_range(before, after), gone, "{before} {after}");
    }
}
