use super::*;

fn kinds(text: &str) -> Vec<RelationType> {
    cues(text).into_iter().map(|cue| cue.kind).collect()
}

#[test]
fn only_affirmative_cues_count() {
    use RelationType::{Complements, Enables, Extends, Requires, Supersedes};
    assert_eq!(kinds("It works well with a and pairs with b."), [Complements, Complements]);
    assert_eq!(kinds("**Requires:** a. Builds upon b; replaces c."), [Requires, Extends, Supersedes]);
    assert_eq!(kinds("Hand the finished report off to a, then use b. It feeds its list into c."), [Enables; 3]);
    for text in [
        "It does not require a.",
        "It doesn't work with a.",
        "It no longer depends on a",
        "Does it require a? No.",
        "`works with` a",
        "Say \"works well with a\".",
        "Use it without what extends a.",
        "It is required by a.",
    ] {
        assert!(kinds(text).is_empty(), "{text}: {:?}", kinds(text));
    }
    assert_eq!(kinds("If it is not cached, then use a."), [Enables]);
    assert_eq!(kinds("It is not fast but works with a."), [Complements]);
}

#[test]
fn the_name_before_a_cue_is_its_subject() {
    let of = |text: &str| cues(text).first().and_then(|cue| subject(text, *cue).map(str::to_owned));
    assert_eq!(of("Here `web-perf` requires a").as_deref(), Some("web-perf"));
    assert_eq!(of("Note: mcp/email skill also requires a").as_deref(), Some("mcp/email"));
    assert_eq!(of("It requires a"), None);
    assert_eq!(of("After web-perf, it requires a"), None);
}
