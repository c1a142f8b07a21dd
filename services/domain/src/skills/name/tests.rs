use proptest::prelude::*;

use super::*;

fn refusal(text: &str) -> String {
    SkillName::parse(text).unwrap_err().to_string()
}

#[test]
fn valid_names_are_accepted() {
    let sixty_four = "a".repeat(64);
    for name in
        ["plan-meeting", "research/summarize-paper", "a", "skill123", "a/b/c/d", "0", "console", "com10", &sixty_four]
    {
        assert_eq!(SkillName::parse(name).unwrap().as_str(), name);
    }
}

#[test]
fn errors_name_the_broken_rule() {
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
fn lookups_ignore_case_and_surrounding_blanks() {
    assert_eq!(lookup_key(" Plan-Meeting\n").as_deref(), Some("plan-meeting"));
    assert_eq!(valid_key("plan meeting"), None);
    assert_eq!(lookup_key("PL\u{410}N"), None);
}

#[test]
fn names_are_found_as_users_and_hosts_write_them() {
    for typed in [
        "google_meet",
        "Google Meet",
        " /google-meet ",
        "google-meet.md",
        "skill://google-meet/SKILL.md",
        "$google-meet",
        "@Google_Meet",
        "`google-meet`",
        "google-meet/SKILL.md",
        "SKILL://google-meet/skill.md",
        "skill://google%2Dmeet",
        "g\u{f6}\u{f6}gle m\u{e9}et",
    ] {
        assert_eq!(lookup_keys(typed), ["google-meet"], "{typed}");
    }
    assert_eq!(lookup_keys("productivity:google-meet"), ["productivity/google-meet", "google-meet"]);
    assert_eq!(lookup_keys("/Tools:Google Meet"), ["tools/google-meet", "google-meet"]);
    assert_eq!(lookup_keys("skill://mcp/email/SKILL.md"), ["mcp/email"]);
    for none in [
        "",
        "/",
        "..",
        "../google-meet",
        "skill://../x/SKILL.md",
        "skill://%",
        "\u{2026}",
        ".md",
        "a//b",
        "pl\u{430}n",
        "a\u{200b}b",
    ] {
        assert_eq!(lookup_keys(none), Vec::<String>::new(), "{none}");
    }
}

#[test]
fn names_in_other_letters_are_transliterated() {
    for (typed, name) in [
        ("\u{dc}berweisung", "uberweisung"),
        ("Stra\u{df}e", "strasse"),
        ("\u{130}\u{15f} ak\u{131}\u{15f}\u{131}", "is-akisi"),
        ("Sm\u{f8}rbr\u{f8}d", "smorbrod"),
        ("\u{41f}\u{438}\u{441}\u{44c}\u{43c}\u{43e} \u{431}\u{430}\u{43d}\u{43a}\u{443}", "pismo-banku"),
        ("\u{3b8}\u{3ac}\u{3bb}\u{3b1}\u{3c3}\u{3c3}\u{3b1}", "thalassa"),
        ("\u{5f00}\u{53d1}\u{7968}", "kai-fa-piao"),
        ("API\u{6587}\u{6863}", "api-wen-dang"),
        ("\u{3055}\u{304f}\u{3089}", "sakura"),
        ("\u{c11c}\u{c6b8}", "seoul"),
        ("caf\u{e9}", "cafe"),
        ("cafe\u{301}", "cafe"),
        ("tools/caf\u{e9}", "tools/cafe"),
    ] {
        let (parsed, title) = parse_new(typed).unwrap();
        assert_eq!((parsed.as_str(), title.as_deref()), (name, Some(typed)));
        assert_eq!(lookup_key(typed).as_deref(), Some(name));
    }
    assert_eq!(respell(&"\u{53d1}\u{7968}".repeat(20)).unwrap().len(), 63);
    assert_eq!(parse_new("plan").unwrap().1, None);
    let refused = |text: &str| parse_new(text).unwrap_err().to_string();
    assert!(refused("pl\u{430}n").contains("'plan'"));
    assert!(refused("\u{2026}\u{2026}").contains("'plan-meeting'"));
    assert!(refused("plan\u{200b}meeting").contains("ASCII"));
    assert!(refused("My Skill").contains("'my-skill'"));
}

#[test]
fn a_misspelt_name_is_found_among_thousands() {
    // Long names with similar letters.
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
fn a_name_has_a_namespace_and_a_last_segment() {
    let name: SkillName = serde_json::from_str("\"mcp/email\"").unwrap();
    assert_eq!((name.namespace(), name.last_segment()), (Some("mcp"), "email"));
    assert_eq!(serde_json::to_string(&name).unwrap(), "\"mcp/email\"");
    assert!(serde_json::from_str::<SkillName>("\"Mcp\"").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Asserts that a suggested name is a valid name.
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
fn an_error_for_a_reserved_name_suggests_another() {
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
