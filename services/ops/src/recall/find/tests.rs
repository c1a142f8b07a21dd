use super::*;

#[test]
fn names_are_removed_from_a_message() {
    let mention = |bytes: std::ops::Range<usize>| Mention {
        skill: 0,
        chars: bytes.clone(),
        bytes,
        explicit: false,
        common: false,
        stance: Stance::Named,
        cue: None,
    };
    assert_eq!(without_names("use git, then mail é", &[mention(14..18), mention(4..7)]), "use , then  é");
    assert_eq!(without_names("git", &[mention(0..3), mention(0..3)]), "");
}

#[test]
fn large_searches_do_not_run_on_the_request_thread() {
    for (skills, bytes, quick) in [
        (0, 1, true),
        (50, 2_000, true),
        (200, 500, true),
        (2_000, 40, true),
        (1, 65_536, false),
        (200, 2_000, false),
        (2_000, 200, false),
        (10_000, 1, false),
    ] {
        assert_eq!(work(skills, &"x".repeat(bytes)) <= INLINE_WORK, quick, "{skills} {bytes}");
    }
}
