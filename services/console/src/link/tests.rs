use super::{after, encode, inside, query, skill};

#[test]
fn names_are_one_segment() {
    assert_eq!(skill("mcp/plan-a"), "/console/skills/mcp%2Fplan-a");
    assert_eq!(encode("a b&c=d\"'<ü>"), "a%20b%26c%3Dd%22%27%3C%C3%BC%3E");
    assert_eq!(query(&[("q", Some("a&b")), ("tag", None), ("cursor", Some(""))]), "?q=a%26b");
    assert_eq!(query(&[("q", None)]), "");
    assert_eq!(after("/console/jobs", "retried"), "/console/jobs?done=retried");
    assert_eq!(after("/console/jobs?state=dead", "retried"), "/console/jobs?state=dead&done=retried");
}

const RELATIVE: [&str; 5] =
    ["/console/../v1", "/console/..", "/console/%2e%2E/v1", "/console/./skills", "/console/.%2e?q=a"];

#[test]
fn only_pages_of_the_console_are_inside() {
    for page in ["/console", "/console/skills?q=a%20b", "/console?done=saved", "/console/skills/a..b?q=/../x"] {
        assert_eq!(inside(Some(page)), page);
    }
    for other in ["https://evil.example", "//evil.example", "/consoles", "/v1", "/console\\evil", "/console/a b", ""]
        .into_iter()
        .chain(RELATIVE)
    {
        assert_eq!(inside(Some(other)), "/console", "{other}");
    }
}
