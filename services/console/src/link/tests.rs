use super::{encode, inside, query, skill};

#[test]
fn names_are_one_segment() {
    assert_eq!(skill("mcp/plan-a"), "/console/skills/mcp%2Fplan-a");
    assert_eq!(encode("a b&c=d\"'<ü>"), "a%20b%26c%3Dd%22%27%3C%C3%BC%3E");
    assert_eq!(query(&[("q", Some("a&b")), ("tag", None), ("cursor", Some(""))]), "?q=a%26b");
    assert_eq!(query(&[("q", None)]), "");
}

#[test]
fn only_pages_of_the_console_are_inside() {
    for page in ["/console", "/console/skills?q=a%20b", "/console?done=saved"] {
        assert_eq!(inside(Some(page)), page);
    }
    for other in ["https://evil.example", "//evil.example", "/consoles", "/v1", "/console\\evil", "/console/a b", ""] {
        assert_eq!(inside(Some(other)), "/console", "{other}");
    }
}
