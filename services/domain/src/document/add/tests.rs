use super::*;

#[test]
fn what_is_gone_is_found() {
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
