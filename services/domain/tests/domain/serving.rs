//! Texts that are served to hosts: the stored text if hosts can parse it, otherwise a text with as few changes as
//! possible.

use std::borrow::Cow;

use knowhow_domain::{Limits, ServedDocument, SkillDocument, SkillName};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::composing::hostile_text;

fn email() -> SkillName {
    SkillName::parse("mcp/email").unwrap()
}

fn document(raw: &str) -> SkillDocument {
    SkillDocument::parse_named(raw, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{raw}"))
}

fn is_borrowed(served: &ServedDocument<'_>) -> bool {
    matches!(served.text, Cow::Borrowed(_))
}

/// Asserts the properties that hold for every served document, and returns the served text.
pub(crate) fn check(document: &SkillDocument, name: &SkillName) -> String {
    let served = document.served(name);
    let text = served.text.to_string();
    assert_eq!(served, document.served(name));
    assert!(text.starts_with("---\n") || text.starts_with("---\r\n"), "{text:?}");
    let again = SkillDocument::parse(&text, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again.name_in_frontmatter(), name.last_segment());
    assert_eq!(again.fields().description, document.fields().description);
    assert_eq!(again.content(), document.content());
    assert_eq!(served.frontmatter["name"], name.last_segment());
    let description = served.frontmatter["description"].as_str().unwrap();
    assert!((1..=1024).contains(&description.chars().count()));
    let twice = again.served(name);
    assert!(is_borrowed(&twice), "{text:?}");
    assert_eq!(twice.frontmatter, served.frontmatter);
    text
}

fn served(raw: &str) -> String {
    check(&document(raw), &email())
}

#[test]
fn a_text_that_hosts_can_parse_is_served_unchanged() {
    for raw in [
        "---\nname: email\ndescription: d\n---\nbody",
        "---\r\nname: email\r\ndescription: d\r\n---\r\n\r\nbody\r\n",
        "---\n# c\nname: 'email' # c\ndescription: >\n  d\n  e\n\nversion: 1.10\n--- \t\n\n\n---\nbody\n---\n",
        "---\ndescription: &d d\nname: email\nx: {y: *d, z: [1,\n  2]}\ntags:\n- a\n- b\n---\n\rbody",
        "---\n\"name\": email\ndescription: |-\n  d\n---\nbody",
    ] {
        let document = document(raw);
        assert!(is_borrowed(&document.served(&email())), "{raw}");
        assert_eq!(check(&document, &email()), raw);
    }
}

#[test]
fn only_the_invalid_parts_are_changed() {
    for (raw, expected) in [
        (
            "---\n# c\nname: My Email # c\nx: [1] # c\ndescription: d\n--- \n\nbody",
            "---\n# c\nname: email # c\nx: [1] # c\ndescription: d\n--- \n\nbody",
        ),
        (
            "---\r\nname: mcp/email\r\n# c\r\ndescription: 1.10\r\n---\r\nbody",
            "---\r\nname: email\r\n# c\r\ndescription: \"1.10\"\r\n---\r\nbody",
        ),
        (
            "---\nname: email\ndescription: 2\nx: 0x10 # c\n---\nbody",
            "---\nname: email\ndescription: \"2\"\nx: 0x10 # c\n---\nbody",
        ),
        ("---\nname: email\ndescription: Null\n---\nbody", "---\nname: email\ndescription: \"Null\"\n---\nbody"),
        ("\u{feff}---\nname: email\ndescription: d\n---\nbody", "---\nname: email\ndescription: d\n---\nbody"),
        ("--- \t\nname: email\ndescription: d\n---\nbody", "---\nname: email\ndescription: d\n---\nbody"),
        (
            "---\rname: email # c\rdescription: |\r  d\r---\r\rbody\rend",
            "---\nname: email # c\ndescription: |\n  d\n---\nbody\rend",
        ),
        ("---\nname: email\rdescription: d\n---\n\nbody", "---\nname: email\ndescription: d\n---\n\nbody"),
        ("---\nname: email\ndescription: d\n---\r\nbody", "---\nname: email\ndescription: d\n---\r\nbody"),
        ("---\nname: email\ndescription: d\n---\r\rbody", "---\nname: email\ndescription: d\n---\nbody"),
        ("---\n{name: Email, description: d, x: 1}\n---\nbody", "---\nname: email\ndescription: d\nx: 1\n---\nbody"),
    ] {
        assert_eq!(served(raw), expected);
    }
}

#[test]
fn a_description_over_the_hosts_limit_loses_its_last_line_break() {
    let raw = format!("---\nname: email # c\ndescription: |\n  {}\n---\nbody", "d".repeat(1024));
    let expected = format!("---\nname: email # c\ndescription: {}\n---\nbody", "d".repeat(1024));
    assert_eq!(served(&raw), expected);
}

#[test]
fn frontmatter_that_hosts_would_read_differently_is_rewritten() {
    for (raw, expected) in [
        (
            "---\nname: email # c\ndescription: d\nx: !!int '3'\n---\n\nbody",
            "---\nname: email\ndescription: d\nmetadata:\n  x: \"3\"\n---\n\nbody",
        ),
        (
            "---\r\nname: email\r\ndescription: d\r\nx: .inf\r\nz: 7e12345\r\n---\r\nbody",
            "---\r\nname: email\r\ndescription: d\r\nmetadata:\r\n  x: \".inf\"\r\n  z: \"7e12345\"\r\n---\r\nbody",
        ),
        (
            "---\nname: email\ndescription: 'd\n'\n1: a\n1.0: b\n---\nbody",
            "---\nname: email\ndescription: \"d \"\nmetadata:\n  \"1\": a\n  \"1.0\": b\n---\nbody",
        ),
        ("---\rname: email\rdescription: d\r...\r---\rbody\r", "---\nname: email\ndescription: d\n---\nbody\r"),
    ] {
        assert_eq!(served(raw), expected);
        let again = document(&served(raw));
        assert_eq!(again.strict(&email()).unwrap(), served(raw));
    }
}

#[test]
fn the_served_frontmatter_has_the_values_that_hosts_read() {
    let raw = "---\nname: Email\ndescription: >\n  Use when: x\nversion: 1.10\ndate: 2024-01-01\nold: ~\non: yes\n\
               deep: &d {n: 010, s: '010', l: [True, 1e3]}\nsame: *d\n---\nbody";
    let expected = json!({
        "name": "email", "description": "Use when: x\n", "version": 1.1, "date": "2024-01-01", "old": null, "on": "yes",
        "deep": {"n": 10, "s": "010", "l": [true, 1000.0]}, "same": {"n": 10, "s": "010", "l": [true, 1000.0]},
    });
    let document = document(raw);
    assert_eq!(Value::Object(document.served(&email()).frontmatter), expected);
    assert_eq!(document.fields().description, "Use when: x");
}

#[test]
fn a_numeric_name_is_served_in_quotes() {
    let raw = "---\nname: 365 # c\ndescription: d\n---\nbody";
    let name = SkillName::parse("office/365").unwrap();
    assert_eq!(check(&document(raw), &name), "---\nname: \"365\" # c\ndescription: d\n---\nbody");
    let name = SkillName::parse("1e3").unwrap();
    assert_eq!(check(&document(raw), &name), "---\nname: \"1e3\" # c\ndescription: d\n---\nbody");
}

prop_compose! {
    fn any_frontmatter()(
        name in prop::sample::select(vec![
            "email", "'email'", "\"email\"", "email # c", "Email", "1", "&n email", "!!str email", ">-\n  email", "|\n  email",
        ]),
        description in prop::sample::select(vec![
            "d", "'d'", "1.10", "True", "0x1f", "|\n  d\n\n  e", ">\n  d", "|+\n  d\n\n", "&d d", "d\n  e", "!!int '3'", ".inf",
            "'d\n'", "\"d\\\n  e\"",
        ]),
        extra in prop::collection::vec(prop::sample::select(vec![
            "# c", "", "x: 1", "\"x y\": [1,\n  2]", "z: {a: 1}", "1: a", "1.0: a", "~: a", "t: !!set {a}", "u:\n- a\n- - b",
            "v:\n  w: |\n    a\n\n", "k: &k\n  l: 1", "m: *k", "o: 'p\n'", "q: 1e999", ".nan: 1", "r: |+\n \n", "? s\n: a",
        ]), 0..5),
        at in any::<prop::sample::Index>(),
    ) -> String {
        let mut lines = vec![format!("name: {name}"), format!("description: {description}")];
        for line in extra {
            lines.insert(at.index(lines.len() + 1), line.to_owned());
        }
        lines.join("\n") + "\n"
    }
}

prop_compose! {
    fn any_head()(
        opening in prop::sample::select(vec!["---\n", "---\n", "---\n", "--- \n", "\u{feff}---\n"]),
        frontmatter in any_frontmatter(),
        closing in prop::sample::select(vec!["---\n", "---\t \n"]),
    ) -> String {
        format!("{opening}{frontmatter}{closing}")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_document_can_be_served(
        head in any_head(),
        ending in prop::sample::select(vec!["\n", "\n", "\r\n", "\r"]),
        body in "(\n|\r|\r\n|---|# |[a-z]| ){0,6}x(\n|\r\n|\r|---)?",
    ) {
        let raw = head.replace('\n', ending) + &body;
        if let Ok(document) = SkillDocument::parse_named(&raw, &Limits::default()) {
            check(&document, &email());
        }
    }

    #[test]
    fn hostile_values_are_served(text in hostile_text(), key in hostile_text(), plain in any::<bool>()) {
        let value = if plain { text } else { serde_json::to_string(&text).unwrap() };
        let raw = format!("---\nname: Email\n{key}: {value}\ndescription: {value}\n---\nbody");
        if let Ok(document) = SkillDocument::parse_named(&raw, &Limits::default()) {
            check(&document, &email());
        }
    }
}
