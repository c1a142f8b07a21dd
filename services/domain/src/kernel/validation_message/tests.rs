use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Color {
    Red,
    Blue,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read, never looked at")]
struct NestedEdit {
    old: String,
    edit: Option<Box<NestedEdit>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read, never looked at")]
struct Input {
    count: Option<u32>,
    share: Option<f32>,
    sure: Option<bool>,
    color: Option<Color>,
    edits: Option<Vec<NestedEdit>>,
    by_color: Option<BTreeMap<String, NestedEdit>>,
    name: Option<String>,
}

fn finding(json: &str) -> (String, String) {
    match read_json::<Input>(json.as_bytes()) {
        Err(Error::Invalid(findings)) => (findings[0].pointer.clone(), findings[0].detail.clone()),
        other => panic!("{json}: {other:?}"),
    }
}

#[test]
fn each_error_has_a_pointer_and_a_reason_in_json_terms() {
    for (json, pointer, detail) in [
        (r#"{"count": -1}"#, "/count", "must be a whole number of at least 0, is -1"),
        (r#"{"count": 1.5}"#, "/count", "must be a whole number of at least 0, is 1.5"),
        (r#"{"count": "1"}"#, "/count", "must be a whole number of at least 0, is a string"),
        (r#"{"count": 4294967296}"#, "/count", "must be a whole number from 0 to 4294967295, is 4294967296"),
        (r#"{"share": "x, expected y"}"#, "/share", "must be a number, is a string"),
        (r#"{"sure": 1}"#, "/sure", "must be true or false, is 1"),
        (r#"{"name": true}"#, "/name", "must be a string, is true"),
        (r#"{"name": {}}"#, "/name", "must be a string, is an object"),
        (r#"{"edits": {}}"#, "/edits", "must be a list, is an object"),
        (r#"{"edits": ["x"]}"#, "/edits/0", "must be an object, is a string"),
        (r#"{"edits": [{"old": "a"}, {"old": "b"}, {"old": 3}]}"#, "/edits/2/old", "must be a string, is 3"),
        (r#"{"edits": [{"old": null}]}"#, "/edits/0/old", "must be a string, is null"),
        (r#"{"edits": [{}]}"#, "/edits/0/old", "is missing"),
        (r#"{"edits": [{"old": "a", "edit": {}}]}"#, "/edits/0/edit/old", "is missing"),
        (r#"{"edits": [{"old": "a", "new": 1}]}"#, "/edits/0/new", "is unknown; allowed are old, edit"),
        (r#"{"edits": [{"old": "a", "old": "b"}]}"#, "/edits/0/old", "is given twice"),
        (
            r#"{"edits": [{"old": "a", "edit": {"old": "b", "edit": null, "edit": null}}]}"#,
            "/edits/0/edit/edit",
            "is given twice",
        ),
        (
            r#"{"edits": [{"old": "a", "edit": {"old": "b", "x": 1}}]}"#,
            "/edits/0/edit/x",
            "is unknown; allowed are old, edit",
        ),
        (r#"{"by_color": {"a/b": {"old": 1}}}"#, "/by_color/a~1b/old", "must be a string, is 1"),
        (r#"{"color": "green"}"#, "/color", "must be one of red, blue"),
        (r#"{"color": 5}"#, "/color", "must be a string, is 5"),
        (r#"{"color": ["red"]}"#, "/color", "must be a string, is a list"),
    ] {
        assert_eq!(finding(json), (pointer.to_owned(), detail.to_owned()), "{json}");
    }
}

#[test]
fn invalid_json_is_malformed() {
    for text in ["{", "", "{\"count\": -1", "{\"a\" 1}", "{\"name\": \"\\ud800\"}"] {
        let error = read_json::<Input>(text.as_bytes()).unwrap_err();
        assert!(matches!(&error, Error::Malformed(detail) if detail.contains("not valid JSON")), "{text}: {error:?}");
    }
}
