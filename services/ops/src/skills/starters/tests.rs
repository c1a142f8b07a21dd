use super::*;

const SECTIONS: [&str; 4] = ["## When to Use", "## Procedure", "## Pitfalls", "## Verification"];

#[test]
fn starters_are_sorted_and_have_the_names_of_their_frontmatter() {
    assert!(STARTERS.is_sorted_by(|a, b| a.name < b.name));
    for starter in STARTERS {
        assert!(starter.skill_md.starts_with(&format!("---\nname: {}\ndescription: ", starter.name)));
        assert!(!starter.skill_md.contains('\r') && starter.skill_md.ends_with('\n'), "{}", starter.name);
    }
}

#[test]
fn starters_have_the_sections_of_a_skill_in_order() {
    for starter in STARTERS {
        let places: Vec<Option<usize>> =
            SECTIONS.iter().map(|section| starter.skill_md.find(&format!("\n{section}\n"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", starter.name);
    }
}

#[test]
fn starters_refer_only_to_existing_skills() {
    for starter in STARTERS {
        for quoted in starter.skill_md.split('`').filter(|word| word.contains('-') && !word.contains([' ', '<', '/'])) {
            let is_example = ["deploy-to-cloudflare", "plan-meeting", "fix-flaky-tests", "tuesday-ci-problem"];
            let known = STARTERS.iter().any(|other| other.name == quoted) || is_example.contains(&quoted);
            assert!(known, "{}: {quoted}", starter.name);
        }
    }
}
