use super::{ExternalIdFilter, behind};

#[test]
fn bounds_include_exactly_the_names_with_the_prefix() {
    assert_eq!(behind("ab"), "ac");
    assert_eq!(behind("a\u{d7ff}"), "a\u{e000}");
    assert_eq!(behind("a\u{10ffff}"), "b");
    assert!(*behind("") > *"\u{10ffff}".repeat(255) && behind("\u{10ffff}") == behind(""));
    let (first, last) = ExternalIdFilter::One("alice").bounds();
    let is_in = |name: &str| first.as_str() <= name && name < last.as_str();
    assert!(is_in("alice") && !is_in("alice2") && !is_in("alice ") && !is_in("alic"));
}
