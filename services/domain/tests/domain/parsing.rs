//! Parsing of SKILL.md: which texts are accepted, and the messages for rejected texts.

use std::time::{Duration, Instant};

use knowhow_domain::{Error, FieldEdits, Limits, Role, SkillDocument};
use proptest::prelude::*;
use serde_json::json;

fn parse(raw: &str) -> Result<SkillDocument, Error> {
    SkillDocument::parse(raw, &Limits::default())
}

fn refusal(raw: &str) -> String {
    parse(raw).expect_err(raw).to_string()
}

#[test]
fn each_defect_has_its_own_message() {
    let long = format!("---\nname: a\ndescription: {}\n---\nx", "é".repeat(1025));
    let compatibility = format!("---\nname: a\ndescription: d\ncompatibility: {}\n---\nx", "c".repeat(501));
    let cases = [
        ("# Title\n", "no frontmatter"),
        ("", "no frontmatter"),
        ("\n---\nname: a\n---\n", "no frontmatter"),
        ("---\nname: a\ndescription: d\n", "not closed"),
        ("---\n- a\n- b\n---\nx", "mapping"),
        ("---\njust text\n---\nx", "mapping"),
        ("---\n---\nx", "empty"),
        ("---\n# only a comment\n---\nx", "empty"),
        ("---\ndescription: d\n---\nx", "/name: the frontmatter has no name"),
        ("---\nname:\ndescription: d\n---\nx", "/name: the frontmatter's name is empty"),
        ("---\nname: [a]\ndescription: d\n---\nx", "/name: the frontmatter's name must be a string"),
        ("---\nname: My Skill\ndescription: d\n---\nx", "uppercase"),
        ("---\nname: a\n---\nx", "/description: the frontmatter has no description"),
        ("---\nname: a\ndescription: {a: b}\n---\nx", "/description: the description must be a string"),
        ("---\nname: a\ndescription: ''\n---\nx", "/description: the description is empty"),
        ("---\nname: a\ndescription:\n---\nx", "/description: the description is empty"),
        ("---\nname: a\ndescription: ' '\n---\nx", "/description: the description is empty"),
        (&long, "has 1025"),
        (&compatibility, "/compatibility: compatibility must have at most 500 characters, has 501"),
        ("---\nname: a\ndescription: d\n---\n", "there is no text after the frontmatter"),
        ("---\nname: a\ndescription: d\n---", "there is no text after the frontmatter"),
        ("---\nname: a\ndescription: d\n---\n \t\r\n", "there is no text after the frontmatter"),
        ("---\nname: a\ndescription: d\n---\na\0b", "NUL"),
        ("---\nname: a\nname: b\ndescription: d\n---\nx", "key 'name' twice"),
        ("---\nname: a\ndescription: d\nm:\n  x: 1\n  x: 2\n---\nx", "key 'x' twice"),
        ("---\nname: a\ndescription: *nowhere\n---\nx", "not valid YAML"),
        ("---\nname: a\n\tdescription: d\n---\nx", "line 2 is not valid YAML: `name: a`"),
    ];
    for (raw, words) in cases {
        let detail = refusal(raw);
        assert!(detail.contains(words), "{raw:?}: {detail}");
    }
}

#[test]
fn a_text_over_a_limit_is_too_large_and_not_invalid() {
    let head = "---\nname: a\ndescription: d\n---\n\n";
    let limits = Limits { body_bytes: 10 };
    assert!(SkillDocument::parse(&format!("{head}0123456789"), &limits).is_ok());
    let error = SkillDocument::parse(&format!("{head}0123456789a"), &limits).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("body")), ("too-large", true));
    let comment = format!("---\nname: a\ndescription: d\n# {}\n---\nx", "c".repeat(65 * 1024));
    assert!(refusal(&comment).contains("frontmatter is too large"));
}

#[test]
fn the_message_for_an_unquoted_colon_suggests_quotes() {
    let raw = "---\nname: a\ndescription: Use when: x\n---\nbody";
    let detail = refusal(raw);
    assert!(detail.contains("line 3 is not valid YAML: `description: Use when: x`"), "{detail}");
    assert!(detail.contains("`description: \"Use when: x\"`"), "{detail}");
    let fixed = SkillDocument::fix(raw).unwrap();
    assert_eq!(fixed, "---\nname: a\ndescription: \"Use when: x\"\n---\nbody");
    assert_eq!(parse(&fixed).unwrap().fields().description, "Use when: x");
}

#[test]
fn fix_quotes_common_invalid_values_and_changes_nothing_else() {
    for value in [
        "Use when: x",
        "@mention first",
        "`code` first",
        "%percent",
        "*star* emphasis",
        "[TODO] later",
        "{a} b: c",
        "\"quoted\" and more",
        "it: is \"q\" \\ and 'r'",
        "- dash",
        "| bar",
        "a: b # c",
        "Trailing colon: and: more",
        "'tis",
    ] {
        let raw = format!("\u{feff}---\r\n# note\r\nname: a\r\ndescription: {value}\r\nversion: 1.10\r\n---\r\nx");
        let fixed = SkillDocument::fix(&raw).unwrap_or_else(|| panic!("{value} is not fixed"));
        let doc = parse(&fixed).unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(doc.fields().description, value);
        let (before, after) = (raw.split_once(value).unwrap(), fixed.split_once("\r\nversion").unwrap());
        assert!(fixed.starts_with(before.0) && raw.ends_with(after.1), "{fixed}");
    }
}

#[test]
fn fix_joins_and_quotes_values_of_several_lines() {
    let raw = "---\nname: a\ndescription:\n  Asks about a plan until it is clear.\n  Use with the skill: grill first\nlicense: MIT\n---\nx";
    let fixed = SkillDocument::fix(raw).unwrap();
    let fields = parse(&fixed).unwrap().fields().clone();
    assert_eq!(fields.description, "Asks about a plan until it is clear. Use with the skill: grill first");
    assert_eq!(fields.attributes.license.as_deref(), Some("MIT"));
    let error = parse(raw).unwrap_err().to_string();
    assert!(error.contains("Join the lines"), "{error}");
    let first = SkillDocument::fix("---\nname: a\ndescription: Use when: x\n\n  and then: \"y\"\n---\nx").unwrap();
    assert_eq!(parse(&first).unwrap().fields().description, "Use when: x and then: \"y\"");
    // A value in another YAML notation is not changed.
    for value in [": >\n  a: b\n c", ":\n  key: a: b", ": [a,\n  b: c: d"] {
        assert_eq!(SkillDocument::fix(&format!("---\nname: a\ndescription: d\nother{value}\n---\nx")), None, "{value}");
    }
}

#[test]
fn fix_indents_json_without_indentation() {
    let json = "{\n\"openclaw\":\n{\n\t// tools\n\t\"requires\": { \"bins\": [\"a}b\", \"c\",], },\n},\n}";
    let raw = format!("---\nname: a\ndescription: d\nmetadata:\n{json}\nlicense: MIT\n---\nx");
    let fixed = SkillDocument::fix(&raw).unwrap();
    let fields = parse(&fixed).unwrap().fields().clone();
    assert_eq!(fields.attributes.metadata["openclaw"]["requires"]["bins"], serde_json::json!(["a}b", "c"]));
    assert_eq!(fields.attributes.license.as_deref(), Some("MIT"));
    let open = format!("---\nname: a\ndescription: d\nmetadata:\n{}\n---\nx", &json[..json.len() - 1]);
    assert_eq!(SkillDocument::fix(&open), None);
}

#[test]
fn every_spelling_of_true_disables_model_invocation() {
    let read = |value: &str| parse(&format!("---\nname: a\ndescription: d\ndisable-model-invocation: {value}\n---\nx"));
    for value in ["true", "True", "\"true\"", "yes", "YES", "on", "On", "1", "'1'"] {
        assert!(read(value).unwrap().fields().reserved, "{value}");
    }
    for value in ["false", "FALSE", "no", "off", "0", "", "null", "~"] {
        assert!(!read(value).unwrap().fields().reserved, "{value}");
    }
    for value in ["y", "maybe", "2", "[true]", "{a: b}", "enabled", "truee"] {
        let error = read(value).unwrap_err().to_string();
        assert!(error.contains("must be true or false"), "{value}: {error}");
    }
}

#[test]
fn fix_returns_none_if_there_is_nothing_to_fix() {
    for raw in [
        "---\nname: a\ndescription: d # c\n---\nx",
        "no frontmatter: here: x",
        "---\nname: a\n\tdescription: d\n---\nx",
        "---\nname: a\nname: b\ndescription: d\n---\nx",
    ] {
        assert_eq!(SkillDocument::fix(raw), None, "{raw:?}");
    }
}

#[test]
fn every_notation_is_understood_and_kept_byte_for_byte() {
    let lf = "\u{feff}---\n# who am I\nname: plan-meeting\ndescription: >-\n  Plans\n  meetings. # no comment\n\
              version: 1.10\nflag: yes\nmetadata:\n  version: 1.10\n  count: 3\n  ok: true\n  on: off\n  x: ~\n---  \n\n# Body\n\ntext\n";
    for ending in ["\n", "\r\n", "\r"] {
        let raw = lf.replace('\n', ending);
        let doc = parse(&raw).unwrap();
        assert_eq!(doc.raw(), raw);
        assert_eq!(doc.fields().description, "Plans meetings. # no comment");
        assert_eq!(doc.content(), "# Body\n\ntext\n".replace('\n', ending));
        let metadata = json!({"version": "1.10", "count": 3, "ok": true, "on": "off", "x": null});
        assert_eq!(json!(doc.fields().attributes.metadata), metadata);
    }
    let block = parse("---\nname: a\ndescription: |\n  one\n  two\n\n---\nx").unwrap();
    assert_eq!(block.fields().description, "one\ntwo");
    assert_eq!(parse("---\nname: 123\ndescription: 5\n---\nx").unwrap().fields().name, "123");
    assert_eq!(parse("---\nname: \"mcp/email\"\ndescription: d\n---\nx").unwrap().name_in_frontmatter(), "mcp/email");
}

#[test]
fn one_blank_line_after_the_frontmatter_is_not_content() {
    for (rest, content) in
        [("\nx", "x"), ("\n\nx", "x"), ("\n\n\nx", "\nx"), ("\n \nx", " \nx"), ("\r\n\r\n\r\nx", "\r\nx")]
    {
        let doc = parse(&format!("---\nname: a\ndescription: d\n---{rest}")).unwrap();
        assert_eq!(doc.content(), content, "{rest:?}");
        assert_eq!(doc.frontmatter(), "name: a\ndescription: d\n");
    }
}

#[test]
fn fields_are_read_from_the_top_level_or_from_metadata() {
    let raw = "---\nname: a\ndescription: d\ntags: [x, y]\ntriggers: one, two\nrole: utility\nallowed-tools:\n  - Read\n  - Bash\n\
               metadata:\n  tags: [z]\n  see_also:\n    - mcp/guide\n  author: me\n  summary: short\n  category: c\n---\nx";
    let fields = parse(raw).unwrap().fields().clone();
    assert_eq!((fields.tags, fields.triggers), (vec!["x".into(), "y".into()], vec!["one".into(), "two".into()]));
    assert_eq!((fields.see_also, fields.role), (vec!["mcp/guide".to_owned()], Some(Role::Utility)));
    assert_eq!((fields.attributes.author.as_deref(), fields.summary.as_deref()), (Some("me"), Some("short")));
    assert_eq!(
        (fields.category.as_deref(), fields.attributes.allowed_tools.as_deref()),
        (Some("c"), Some("Read, Bash"))
    );
    let odd = "---\nname: a\ndescription: d\ntags: {a: b}\nrole: chief\nlicense: [MIT, BSD]\nmetadata: text\nauthor: {n: m}\n---\nx";
    let fields = parse(odd).unwrap().fields().clone();
    assert_eq!((fields.tags.len(), fields.role, fields.attributes.author), (0, None, None));
    assert_eq!((fields.attributes.license.as_deref(), fields.attributes.metadata.len()), (Some("MIT, BSD"), 0));
}

#[test]
fn aliases_are_expanded_only_up_to_a_limit() {
    let doc = parse("---\nname: a\ndescription: &d words\nsummary: *d\n---\nx").unwrap();
    assert_eq!(doc.fields().summary.as_deref(), Some("words"));
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..30 {
        bomb += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "));
    }
    let mut chain = String::from("a0: &a0 [x]\n");
    for n in 1..3000 {
        chain += &format!("a{n}: &a{n} [*a{}]\n", n - 1);
    }
    let large = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(30_000), "*a,".repeat(10_000));
    let hostile = [
        bomb,
        chain,
        large,
        "a: ".to_owned() + &"[".repeat(60_000),
        "a: ".to_owned() + &"{a: ".repeat(15_000),
        "a:\n".to_owned() + &(0..300).map(|n| " ".repeat(n) + "b:\n").collect::<String>(),
        "a: &a [*a]\n".into(),
        "- ".repeat(30_000),
        "? ".repeat(30_000),
        "!".repeat(60_000),
        "a: \"".to_owned() + &"\\n".repeat(30_000),
        "k: v\n".repeat(13_000),
        (0..9_000).map(|n| format!("{n}: v\n")).collect(),
        "a: &".to_owned() + &"b".repeat(60_000),
        "# c\n".repeat(16_000),
        "a: '".to_owned() + &"''".repeat(30_000),
        "a: ".to_owned() + &"b ".repeat(30_000) + ": c",
        ": ".repeat(32_000),
        "a: x: y\n".repeat(8_000),
    ];
    for yaml in hostile {
        let start = Instant::now();
        let raw = format!("---\nname: a\ndescription: d\n{yaml}\n---\nx");
        let result = parse(&raw);
        let fixed = SkillDocument::fix(&raw);
        assert!(start.elapsed() < Duration::from_secs(60), "{:?} {:?}", start.elapsed(), &yaml[..20]);
        assert!(result.is_err() || !yaml.contains('['), "{:?}", &yaml[..20]);
        drop(fixed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn anything_is_refused_or_kept(yaml in "([a-z]{1,4}: [ -~é]{0,12}\n|[ -~\n\t]{0,20}\n|#.{0,5}\n){0,5}", body in ".{0,20}") {
        let raw = format!("---\nname: a\ndescription: d\n{yaml}---\n{body}");
        if let Ok(doc) = parse(&raw) {
            prop_assert_eq!(doc.raw(), &raw);
            prop_assert!(raw.ends_with(doc.content()) && raw.contains(doc.frontmatter()));
        }
        if let Some(fixed) = SkillDocument::fix(&raw) {
            prop_assert_ne!(&fixed, &raw);
            prop_assert!(fixed.ends_with(&body));
        }
    }

    #[test]
    fn no_text_makes_it_panic(raw in any::<String>()) {
        drop(parse(&raw));
        drop(parse(&format!("---\n{raw}\n---\nx")));
        drop(SkillDocument::fix(&format!("---\n{raw}\n---\nx")));
    }
}

#[test]
fn frontmatter_of_other_hosts_is_read() {
    let json = "---\n{\n\t\"name\": \"weather\",\n\t\"description\": \"Tells: \\\"rain\\\"\",\n\t\"metadata\": {\"tags\": [\"sky\"]}\n}\n---\nx";
    let fields = parse(json).unwrap().fields().clone();
    assert_eq!((fields.name.as_str(), fields.description.as_str()), ("weather", "Tells: \"rain\""));
    assert_eq!(fields.tags, ["sky"]);
    let hermes =
        "---\nname: a\ndescription: d\nmetadata:\n  hermes:\n    tags: [one, two]\n    related_skills: [b]\n---\nx";
    let document = parse(hermes).unwrap();
    assert_eq!(
        (&document.fields().tags[..], &document.fields().see_also[..]),
        (&["one".into(), "two".into()][..], &["b".into()][..])
    );
    let edits = FieldEdits { tags: Some(Vec::new()), see_also: Some(vec!["c".into()]), ..FieldEdits::default() };
    let edited = document.with_edits(&edits, None, &Limits::default()).unwrap();
    assert_eq!((edited.fields().tags.len(), &edited.fields().see_also[..]), (0, &["c".into()][..]));
    assert!(edited.raw().contains("    tags: [one, two]\n"), "what is Hermes' own stays: {}", edited.raw());
}
