use super::*;

#[test]
fn spelling_makes_no_difference_and_likeness_no_identity() {
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
fn a_name_that_says_nothing_is_refused() {
    let named = |name: &str| EntityName { name: name.to_owned(), kind: EntityKind::Tool };
    assert_eq!(named(" Cloudflare\n").checked("/e").unwrap(), (EntityKind::Tool, "Cloudflare".to_owned()));
    assert!(named(" - ").checked("/e").is_err());
    assert!(named("").checked("/e").is_err());
    assert!(named(&"x".repeat(121)).checked("/e").is_err());
}
