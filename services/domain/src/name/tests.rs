use proptest::prelude::*;

use super::*;

fn refusal(text: &str) -> String {
    SkillName::parse(text).unwrap_err().to_string()
}

#[test]
fn good_names_are_taken() {
    let sixty_four = "a".repeat(64);
    for name in
        ["plan-meeting", "research/summarize-paper", "a", "skill123", "a/b/c/d", "0", "console", "com10", &sixty_four]
    {
        assert_eq!(SkillName::parse(name).unwrap().as_str(), name);
    }
}

#[test]
fn each_broken_rule_is_named() {
    for (name, words) in [
        ("", "empty"),
        ("-x", "start with '-'"),
        ("x-", "end with '-'"),
        ("a--b", "'--'"),
        ("My Skill", "uppercase"),
        ("my skill", "space"),
        ("my_skill", "underscore"),
        ("a/../b", "'..'"),
        ("/a", "empty segment"),
        ("a/", "empty segment"),
        ("a//b", "empty segment"),
        ("a/b/c/d/e", "at most 4 segments"),
        ("con", "a device"),
        ("mcp/nul", "a device"),
        ("com1/a", "a device"),
        ("pl\u{430}n", "U+0430"),
        ("a\n", "'\\n'"),
    ] {
        assert!(refusal(name).contains(words), "{name:?}: {}", refusal(name));
    }
    assert!(refusal(&"a".repeat(65)).contains("at most 64 characters, has 65"));
    let long = ["a".repeat(60), "b".repeat(60), "c".repeat(60), "d".repeat(60)].join("/");
    assert!(refusal(&long).contains("at most 200 characters"));
}

#[test]
fn a_valid_form_is_suggested() {
    assert!(refusal("My Skill").contains("'my-skill'"));
    assert!(refusal("/mcp//E_mail").contains("'mcp/e-mail'"));
    assert!(!refusal("a/../b").contains("valid form"));
}

#[test]
fn lookups_forgive_case_and_blanks() {
    assert_eq!(lookup_key(" Plan-Meeting\n").as_deref(), Some("plan-meeting"));
    assert_eq!(lookup_key("plan meeting"), None);
    assert_eq!(lookup_key("PL\u{410}N"), None);
}

#[test]
fn one_of_many_names_is_found_by_a_slip() {
    // Long ones that are all alike in letters.
    let long = |n: usize| {
        (0..16).map(|word| format!("{:x}-", (n + 1) * (word * word + 7) * 2_654_435_761)).collect::<String>()
    };
    let mut names: Vec<String> = (0..5000).map(|n| long(n).trim_end_matches('-').chars().take(190).collect()).collect();
    names.extend(["mcp/email", "plan-meeting", "meeting-notes"].map(str::to_owned));
    for (wanted, first) in [("mcp/emial", "mcp/email"), ("plan-meetnig", "plan-meeting"), (&names[77][2..], &names[77])]
    {
        assert_eq!(closest(wanted, &names).first().map(String::as_str), Some(first));
    }
    assert!(closest("zzz", &names).is_empty() && closest("", &names).is_empty());
}

#[test]
fn parts_of_a_name() {
    let name: SkillName = serde_json::from_str("\"mcp/email\"").unwrap();
    assert_eq!((name.namespace(), name.last_segment()), (Some("mcp"), "email"));
    assert_eq!(serde_json::to_string(&name).unwrap(), "\"mcp/email\"");
    assert!(serde_json::from_str::<SkillName>("\"Mcp\"").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_suggested_is_valid(text in "[ -~]{0,30}") {
        if let Err(error) = SkillName::parse(&text)
            && let Some((_, name)) = error.to_string().split_once("A valid form: '")
        {
            prop_assert!(SkillName::parse(name.trim_end_matches('\'')).is_ok());
        }
    }

    #[test]
    fn anything_is_taken_or_refused(text in any::<String>()) {
        if let Ok(name) = SkillName::parse(&text) {
            let key = lookup_key(&text);
            prop_assert_eq!(key.as_deref(), Some(name.as_str()));
        }
    }
}

#[test]
fn a_reserved_name_offers_another() {
    for name in RESERVED {
        let reserved = SkillName::parse(name).unwrap();
        let refusal = reserved.require_unreserved().unwrap_err().to_string();
        assert!(refusal.contains(&format!("'{name}-skill'")), "{refusal}");
        assert!(reserved.unreserved().unwrap().require_unreserved().is_ok());
        assert!(SkillName::parse(&format!("tools/{name}")).unwrap().require_unreserved().is_ok());
        assert!(SkillName::parse(&format!("{name}s")).unwrap().require_unreserved().is_ok());
        let spelled = SkillName::parse(&name.to_uppercase()).unwrap_err().to_string();
        assert!(!spelled.contains("A valid form"), "{spelled}");
    }
}
