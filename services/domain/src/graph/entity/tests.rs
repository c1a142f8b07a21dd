use super::*;

#[test]
fn spellings_of_a_name_are_equal_and_similar_names_are_not() {
    for other in ["web-perf", "Web Perf", "WEB_PERF", "  web   perf ", "ｗｅｂ－ｐｅｒｆ", "web\u{a0}perf"] {
        assert_eq!(canonical(other), "web perf", "{other}");
    }
    assert_ne!(canonical("SR-2023-052"), canonical("SR-2023-053"));
    assert_ne!(canonical("web-perf"), canonical("webperf"));
    assert_eq!(canonical("Straße"), "straße");
    assert_eq!(canonical("ΟΔΟΣ"), canonical("οδοσ"));
    assert_eq!(canonical(" - _ "), "");
}

#[test]
fn empty_and_too_long_names_are_rejected() {
    let named = |name: &str| EntityName { name: name.to_owned(), kind: EntityKind::Tool };
    assert_eq!(named(" Cloudflare\n").checked("/e").unwrap(), (EntityKind::Tool, "Cloudflare".to_owned()));
    assert!(named(" - ").checked("/e").is_err());
    assert!(named("").checked("/e").is_err());
    assert!(named(&"x".repeat(121)).checked("/e").is_err());
}
