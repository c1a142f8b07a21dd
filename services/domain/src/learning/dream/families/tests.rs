use super::*;

#[test]
fn two_skills_with_one_prefix_are_a_family() {
    let found = find_families(&["mcp/b", "web/a", "mcp/a", "plain"]);
    assert_eq!(found, [Family { prefix: "mcp", members: vec!["mcp/a", "mcp/b"], has_guide: false }]);
}

#[test]
fn a_guide_is_not_a_member_of_its_family() {
    assert_eq!(find_families(&["mcp/a", "mcp/guide"]), []);
    assert!(find_families(&["mcp/guide", "mcp/a", "mcp/b"])[0].has_guide);
    assert!(!find_families(&["mcp/x/guide", "mcp/a", "mcp/b"])[0].has_guide);
}

#[test]
fn a_guide_is_recognised_by_its_name() {
    assert!(is_guide("mcp/guide") && is_guide("a/b/guide"));
    for name in ["guide", "/guide", "mcp/guides", "mcp/guide/a", "mcp-guide"] {
        assert!(!is_guide(name), "{name}");
    }
}

#[test]
fn the_prefix_ends_at_the_last_slash() {
    let found = find_families(&["a/b/c", "a/b/d", "a/e", "a/f"]);
    assert_eq!(found.iter().map(|family| family.prefix).collect::<Vec<_>>(), ["a", "a/b"]);
}

#[test]
fn malformed_names_form_no_family() {
    assert_eq!(find_families(&[]), []);
    assert_eq!(find_families(&["", "/", "/a", "/b", "a/", "a/", "same/x", "same/x"]), []);
}
