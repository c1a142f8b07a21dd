use super::*;

#[test]
fn guidance_names_only_tools_that_the_agent_can_call() {
    for tool in ["suggest", "list", "view", "save", "patch", "delete", "history"] {
        assert!(FULL.contains(&format!("skill_{tool}")), "{tool}");
    }
    for heading in ["## When to Use", "## Procedure", "## Pitfalls", "## Verification"] {
        assert!(FULL.contains(heading), "{heading}");
    }
    assert!(FULL.contains("absorbed_into"));
    let writes = |text: &str| ["skill_save", "skill_patch", "skill_delete"].iter().any(|tool| text.contains(tool));
    assert!(!writes(READ) && READ.contains("skill_view"));
    assert!(!NONE.contains("skill_") && !INDEX_HEADER_WITHOUT_TOOLS.contains("skill_"));
}

#[test]
fn guidance_is_short() {
    let chars = |text: &str| text.chars().count();
    assert!(chars(FULL) < 1_600, "{}", chars(FULL));
    assert!([FULL_SHORT, READ, NONE].iter().all(|text| chars(text) < 350));
}
