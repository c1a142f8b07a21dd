//! Editing a field changes that field and no other byte.

use knowhow_domain::{FieldEdits, Fields, Limits, Role, SkillDocument, SkillName};
use proptest::prelude::*;
use serde_json::json;

use crate::composing::hostile_text;

const WILD: &str = "\u{feff}---\n# head\nname: plan-meeting   # the name\nversion: 1.10\ndescription: >\n  Old\n  words\n\n# between\n\
                    tags:\n  - one   # first\n  # about two\n  - two\nunknown: {a: [1, 2], b: c}\nmetadata:\n    author: 'Me'   # author\n    odd: *x\n---\n\n# Body\n";

fn parse(raw: &str) -> SkillDocument {
    SkillDocument::parse(raw, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{raw}"))
}

fn edit(raw: &str, edits: &FieldEdits) -> String {
    parse(raw).with_edits(edits, None, &Limits::default()).unwrap().raw().to_owned()
}

fn wild() -> String {
    WILD.replace("*x", "x")
}

#[test]
fn an_edit_to_the_same_values_changes_no_byte() {
    for ending in ["\n", "\r\n", "\r"] {
        let raw = wild().replace('\n', ending);
        assert_eq!(edit(&raw, &FieldEdits::default()), raw);
        let same = FieldEdits {
            description: Some("Old words".into()),
            tags: Some(vec!["one".into(), "two".into()]),
            author: Some(Some("Me".into())),
            summary: Some(None),
            metadata: json!({"odd": "x", "gone": null}).as_object().cloned(),
            ..FieldEdits::default()
        };
        assert_eq!(edit(&raw, &same), raw);
    }
}

#[test]
fn an_edited_field_keeps_its_place_and_line_endings() {
    for ending in ["\n", "\r\n", "\r"] {
        let raw = wild().replace('\n', ending);
        let expect = |from: &str, to: &str| raw.replace(&from.replace('\n', ending), &to.replace('\n', ending));
        let tags = |tags: &[&str]| FieldEdits {
            tags: Some(tags.iter().map(|tag| (*tag).to_owned()).collect()),
            ..FieldEdits::default()
        };
        let author =
            |author: Option<&str>| FieldEdits { author: Some(author.map(str::to_owned)), ..FieldEdits::default() };
        let description = FieldEdits { description: Some("New: words".into()), ..FieldEdits::default() };
        for (edits, from, to) in [
            (description, ": >\n  Old\n  words\n", ": \"New: words\"\n"),
            (tags(&["one", "new", "two"]), "first\n", "first\n  - new\n"),
            (tags(&["one", "two", "new"]), "- two\n", "- two\n  - new\n"),
            (tags(&["two"]), "  - one   # first\n", ""),
            (tags(&["zero", "two"]), "- one   # first\n", "- zero\n"),
            (author(Some("You")), "'Me'", "You"),
            (author(None), "    author: 'Me'   # author\n", ""),
        ] {
            assert_eq!(edit(&raw, &edits), expect(from, to));
        }
        let removed = edit(&raw, &tags(&[]));
        assert_eq!(removed, expect("tags:\n  - one   # first\n  # about two\n  - two\n", ""));
    }
}

#[test]
fn new_standard_fields_go_to_the_top_and_others_to_metadata() {
    let raw = "---\r\nname: a\r\ndescription: d # c\r\n---\r\nBody";
    let edits = FieldEdits {
        summary: Some(Some("Short".into())),
        role: Some(Some(Role::Processor)),
        license: Some(Some("MIT".into())),
        see_also: Some(vec!["b".into()]),
        metadata: json!({"k": {"m": [1]}}).as_object().cloned(),
        ..FieldEdits::default()
    };
    let expected = "---\r\nname: a\r\ndescription: d # c\r\nlicense: MIT\r\nmetadata:\r\n  summary: Short\r\n  see-also:\r\n    - b\r\n  \
                    role: processor\r\n  k:\r\n    m:\r\n      - 1\r\n---\r\nBody";
    assert_eq!(edit(raw, &edits), expected);
    let removal = FieldEdits {
        summary: Some(None),
        role: Some(None),
        license: Some(None),
        see_also: Some(vec![]),
        metadata: json!({"k": null}).as_object().cloned(),
        ..FieldEdits::default()
    };
    assert_eq!(edit(expected, &removal), raw);
}

#[test]
fn fields_in_unusual_yaml_can_be_edited() {
    let edits = FieldEdits {
        description: Some("new".into()),
        tags: Some(vec!["t".into()]),
        metadata: json!({"v": "2"}).as_object().cloned(),
        ..FieldEdits::default()
    };
    for yaml in [
        "{name: a, description: d, other: [1, x]}\n",
        "name: a\ndescription: &d d\nother: *d\n",
        "name: a\ndescription: d\nmetadata: {v: '1', w: [a, b]}\n",
        "name: a\ndescription: d\nmetadata:\n",
        "name: a\ndescription: d\nmetadata: # note\n  v: 1 # one\n",
        "name: a\n? description\n: d\n",
        "name: a\ndescription:\n  d\ntags: [a,\n  b]\n",
        "name: a\ndescription: d\ntags:\n- a\n- - b\n",
        "  name: a\n  description: d\n  tags:\n  - a\n",
        "name: a\n\"description\": \"d: x\"\nlast: |+\n  text\n\n\n",
        "name: a\ndescription: d\nlast: |2\n    text\n# end\n",
        "name: a\ndescription: d\nlast:\n  - >-\n    text\n\n    more\n\n",
        "name: a\ndescription: !!str d\ntags: !x [a]\n",
        "name: a\ndescription: d\n...\n",
        "name: a\ndescription: d\nmetadata: text\n",
    ] {
        let doc = parse(&format!("---\n{yaml}---\nx"));
        let edits = if yaml.contains("metadata: text") {
            FieldEdits { metadata: None, ..edits.clone() }
        } else {
            edits.clone()
        };
        let edited = doc.with_edits(&edits, None, &Limits::default()).unwrap_or_else(|error| panic!("{yaml}: {error}"));
        assert_eq!((edited.fields().description.as_str(), edited.fields().tags.len()), ("new", 1), "{yaml}");
        if edits.metadata.is_some() {
            assert_eq!(edited.fields().attributes.metadata["v"], "2", "{yaml}");
        }
        for kept in ["other", "last", "w:", "# note", "# end", "text"] {
            assert_eq!(yaml.contains(kept), edited.raw().contains(kept), "{yaml}\n{}", edited.raw());
        }
    }
}

#[test]
fn strict_moves_unknown_fields_under_metadata() {
    let name = SkillName::parse("team/plan-meeting").unwrap();
    let strict = parse(&wild()).strict(&name).unwrap();
    let expected = "---\nname: plan-meeting\ndescription: Old words\nmetadata:\n  author: Me\n  odd: x\n  version: 1.10\n  tags:\n    - one\n    \
                    - two\n  unknown:\n    a:\n      - 1\n      - 2\n    b: c\n---\n\n# Body\n";
    assert_eq!(strict, expected);
    let clash =
        parse("---\nname: a\ndescription: d\ntags: [x]\nempty: []\nnone:\nmetadata: {tags: [y], n: {}}\n---\nx");
    let strict = clash.strict(&name).unwrap();
    let again = parse(&strict);
    assert_eq!(again.fields().tags, ["x"]);
    assert_eq!(
        json!(again.fields().attributes.metadata),
        json!({"tags": ["x"], "tags-2": ["y"], "empty": "", "none": "", "n": ""})
    );
}

fn without<T: Default>(fields: &Fields, take: impl Fn(&mut Fields) -> &mut T) -> Fields {
    let mut fields = fields.clone();
    *take(&mut fields) = T::default();
    fields.attributes.metadata.clear();
    fields
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Asserts that an edit changes only the edited fields.
    #[test]
    fn only_what_was_asked_changes(description in hostile_text(), tags in prop::collection::vec("[a-z:#' -]{0,5}[a-z]", 0..5), ending in 0..3usize, at_top in any::<bool>()) {
        prop_assume!(!description.trim().is_empty());
        let raw = wild().replace('\n', ["\n", "\r\n", "\r"][ending]);
        let raw = if at_top { raw } else { raw.replacen("tags:", "labels:", 1) };
        let doc = parse(&raw);
        let edits = FieldEdits { tags: Some(tags.clone()), ..FieldEdits::default() };
        let tagged = doc.with_edits(&edits, None, &Limits::default()).unwrap();
        prop_assert_eq!(&tagged.fields().tags, &tags);
        prop_assert_eq!(without(tagged.fields(), |f| &mut f.tags), without(doc.fields(), |f| &mut f.tags));
        let edits = FieldEdits { description: Some(description.clone()), ..FieldEdits::default() };
        let described = tagged.with_edits(&edits, None, &Limits::default()).unwrap();
        prop_assert_eq!(&described.fields().description, &description);
        prop_assert_eq!(without(described.fields(), |f| &mut f.description), without(tagged.fields(), |f| &mut f.description));
        prop_assert_eq!(described.content(), doc.content());
        let untouched = ["   # the name", "# between", "unknown: {a: [1, 2], b: c}", "   # author"];
        prop_assert!(untouched.iter().all(|text| described.raw().contains(text)));
        let back = FieldEdits { description: Some(doc.fields().description.clone()), tags: Some(doc.fields().tags.clone()), ..FieldEdits::default() };
        let back = described.with_edits(&back, None, &Limits::default()).unwrap();
        prop_assert_eq!(without(back.fields(), |f| &mut f.see_also), without(doc.fields(), |f| &mut f.see_also));
    }

    #[test]
    fn content_is_replaced_exactly(content in "(\r|\n|\r\n|---|a| ){1,8}", ending in 0..3usize, separated in any::<bool>()) {
        prop_assume!(!content.trim().is_empty());
        let raw = wild().replace('\n', ["\n", "\r\n", "\r"][ending]);
        let raw = if separated { raw } else { raw.replace("---\n\n", "---\n").replace("---\r\r", "---\r") };
        let doc = parse(&raw);
        let edited = doc.with_edits(&FieldEdits::default(), Some(&content), &Limits::default()).unwrap();
        prop_assert_eq!(edited.content(), &content);
        prop_assert_eq!(edited.frontmatter(), doc.frontmatter());
    }
}
