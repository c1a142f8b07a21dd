//! A composed document is in the strict form. Parsing it returns the same fields.

use knowhow_domain::{FieldEdits, Limits, Role, SkillDocument, SkillName};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Generates texts that YAML parsers often misread.
pub(crate) fn hostile_text() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "a",
        "Use when",
        ": ",
        ":",
        " #",
        "#",
        "'",
        "\"",
        "\\",
        " ",
        "  ",
        "\n",
        "\t",
        "---",
        "--",
        "-",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "?",
        "? ",
        "yes",
        "null",
        "true",
        "~",
        "1.10",
        "0x1f",
        "2024-01-01",
        "é",
        "中文",
        "\u{2028}",
        "\u{85ff}",
        "😀",
        "\u{feff}",
        "…",
        "\u{a0}",
        "=",
        "<<",
        "...",
        "$",
    ]);
    prop::collection::vec(bits, 1..8).prop_map(|bits| bits.concat())
}

fn filled(texts: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    texts.prop_filter("blank", |text| !text.trim().is_empty())
}

fn line() -> impl Strategy<Value = String> {
    filled(hostile_text().prop_map(|text| text.replace(['\n', '\u{2028}'], "")))
}

fn metadata_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        hostile_text().prop_map(Value::String),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| json!(n)),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Value::Array),
            prop::collection::btree_map(line(), inner, 1..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

prop_compose! {
    fn any_edits()(
        description in filled(hostile_text()),
        texts in prop::array::uniform4(prop::option::of(line())),
        license in prop::option::of(filled(hostile_text())),
        role in prop::option::of(Just(Role::HookCandidate)),
        tags in prop::collection::vec(line(), 0..4),
        triggers in prop::collection::vec(line(), 0..4),
        extra in prop::collection::btree_map("x-[a-z]{1,3}", metadata_value().prop_filter("null", |v| !v.is_null()), 0..3),
    ) -> FieldEdits {
        let [summary, category, author, compatibility] = texts;
        let summary = summary.filter(|text| text.split_whitespace().count() <= 15);
        FieldEdits {
            description: Some(description),
            summary: Some(summary),
            category: Some(category),
            author: Some(author),
            compatibility: Some(compatibility),
            allowed_tools: None,
            license: Some(license),
            role: Some(role),
            tags: Some(tags),
            triggers: Some(triggers),
            see_also: Some(vec!["mcp/guide".into(), "a".into()]),
            metadata: Some(extra.into_iter().collect::<Map<_, _>>()),
        }
    }
}

fn name() -> SkillName {
    SkillName::parse("mcp/email").unwrap()
}

fn assert_fields(doc: &SkillDocument, edits: &FieldEdits) {
    let fields = doc.fields();
    assert_eq!(fields.name, "email");
    assert_eq!(Some(&fields.description), edits.description.as_ref());
    assert_eq!(Some(&fields.summary), edits.summary.as_ref());
    assert_eq!(Some(&fields.category), edits.category.as_ref());
    assert_eq!(Some(&fields.attributes.author), edits.author.as_ref());
    assert_eq!(Some(&fields.attributes.license), edits.license.as_ref());
    assert_eq!(Some(&fields.attributes.compatibility), edits.compatibility.as_ref());
    assert_eq!(Some(fields.role), edits.role);
    assert_eq!(Some(&fields.tags), edits.tags.as_ref());
    assert_eq!(Some(&fields.triggers), edits.triggers.as_ref());
    assert_eq!(Some(&fields.see_also), edits.see_also.as_ref());
    for (key, value) in edits.metadata.as_ref().unwrap() {
        assert_eq!(fields.attributes.metadata.get(key), Some(value), "{}", doc.raw());
    }
}

#[test]
fn a_composed_document_has_the_documented_form() {
    let edits = FieldEdits {
        description: Some("Use when: you meet".into()),
        summary: Some(Some("Plans meetings".into())),
        tags: Some(vec!["work".into(), "on".into()]),
        license: Some(Some("MIT".into())),
        metadata: Some(json!({"version": "1.10", "nested": {"list": [1, {"a": "---"}]}}).as_object().unwrap().clone()),
        ..FieldEdits::default()
    };
    let doc = SkillDocument::compose(&name(), &edits, "# Body\n", &Limits::default()).unwrap();
    let expected = "---\nname: email\ndescription: \"Use when: you meet\"\nlicense: MIT\nmetadata:\n  summary: Plans meetings\n  tags:\n    \
                    - work\n    - \"on\"\n  nested:\n    list:\n      - 1\n      - a: \"\\x2d--\"\n  version: \"1.10\"\n---\n\n# Body\n";
    assert_eq!(doc.raw(), expected);
}

#[test]
fn an_invalid_field_is_rejected_with_its_json_pointer() {
    let base = FieldEdits { description: Some("d".into()), ..FieldEdits::default() };
    let metadata = |value: Value| FieldEdits { metadata: value.as_object().cloned(), ..base.clone() };
    let deep = (0..9).fold(json!(1), |inner, _| json!({ "k": inner }));
    for (edits, pointer) in [
        (FieldEdits::default(), "/description"),
        (FieldEdits { description: Some(" ".into()), ..base.clone() }, "/description"),
        (FieldEdits { description: Some("x".repeat(1025)), ..base.clone() }, "/description"),
        (FieldEdits { description: Some("a\u{7}".into()), ..base.clone() }, "/description"),
        (FieldEdits { summary: Some(Some("w ".repeat(16))), ..base.clone() }, "/summary"),
        (FieldEdits { summary: Some(Some("a\nb".into())), ..base.clone() }, "/summary"),
        (FieldEdits { category: Some(Some("c".repeat(65))), ..base.clone() }, "/category"),
        (FieldEdits { compatibility: Some(Some("c".repeat(501))), ..base.clone() }, "/compatibility"),
        (FieldEdits { triggers: Some(vec!["t".into(); 9]), ..base.clone() }, "/triggers"),
        (FieldEdits { tags: Some(vec!["t".into(), " ".into()]), ..base.clone() }, "/tags/1"),
        (FieldEdits { tags: Some(vec!["t".repeat(101)]), ..base.clone() }, "/tags/0"),
        (FieldEdits { see_also: Some(vec!["!!".into()]), ..base.clone() }, "/see_also/0"),
        (metadata(json!({"a": "x\u{0}"})), "/metadata/a"),
        (metadata(json!({"a/b": []})), "/metadata/a~1b"),
        (metadata(json!({"a": "x".repeat(17_000)})), "/metadata"),
        (metadata(json!({"a": deep})), "/metadata/a"),
        (metadata(json!({"summary": "w ".repeat(16)})), "/summary"),
    ] {
        let error = SkillDocument::compose(&name(), &edits, "x", &Limits::default()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{pointer}: ")), "{pointer}: {error}");
    }
    assert!(base.validate().is_empty());
    for (content, words) in [(" \n", "/content"), ("a\0", "/content")] {
        let error = SkillDocument::compose(&name(), &base, content, &Limits::default()).unwrap_err();
        assert!(error.to_string().starts_with(words));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn fields_and_content_come_back(edits in any_edits(), content in filled("[\\PC\r\n\t-]{0,40}|(\r|\n|\r\n|---|a){1,8}")) {
        let doc = SkillDocument::compose(&name(), &edits, &content, &Limits::default()).unwrap();
        prop_assert_eq!(doc.content(), &content);
        assert_fields(&doc, &edits);
        prop_assert!(!doc.frontmatter().contains("---"));
        let again = SkillDocument::parse(&doc.strict(&name()).unwrap(), &Limits::default()).unwrap();
        prop_assert_eq!(again.content(), &content);
        assert_fields(&again, &edits);
    }
}
