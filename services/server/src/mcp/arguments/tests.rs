//! Tests arguments as models send them, without a running service.

use serde_json::json;

use super::*;

fn schema() -> JsonObject {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kind": {"type": "string", "enum": ["semantic", "episodic"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            "importance": {"type": "number"},
            "core": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "metadata": {"type": "object"},
            "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "old_string": {"type": "string"},
                    "new_string": {"type": "string"},
                    "replace_all": {"type": "boolean"},
                },
                "required": ["old_string", "new_string"],
            }},
        },
        "required": ["name"],
    });
    schema.as_object().unwrap().clone()
}

fn fitted(arguments: &Value) -> Result<Value, String> {
    let mut arguments = arguments.as_object().unwrap().clone();
    arguments.entry("name").or_insert(json!("n"));
    let without_name = |mut fitted: Value| {
        fitted.as_object_mut().unwrap().remove("name");
        fitted
    };
    match fit(&schema(), arguments) {
        Ok(fitted) => Ok(without_name(fitted)),
        Err(Error::Invalid(findings)) => {
            Err(findings.iter().map(|f| format!("{} {}", f.pointer, f.detail)).collect::<Vec<_>>().join("\n"))
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn unambiguous_values_are_converted() {
    let edit = json!([{"old_string": "a", "new_string": "b"}]);
    for (sent, meant) in [
        (json!({"limit": "10"}), json!({"limit": 10})),
        (json!({"limit": " 10 "}), json!({"limit": 10})),
        (json!({"limit": 10.0}), json!({"limit": 10})),
        (json!({"limit": 51}), json!({"limit": 51})),
        (json!({"importance": "0.8"}), json!({"importance": 0.8})),
        (json!({"importance": 1}), json!({"importance": 1})),
        (json!({"core": "true"}), json!({"core": true})),
        (json!({"core": "False"}), json!({"core": false})),
        (json!({"tags": "mail"}), json!({"tags": ["mail"]})),
        (json!({"tags": "[\"a\", \"b\"]"}), json!({"tags": ["a", "b"]})),
        (json!({"tags": []}), json!({"tags": []})),
        (json!({"metadata": "{\"a\": null}"}), json!({"metadata": {"a": null}})),
        (json!({"edits": "[{\"old_string\": \"a\", \"new_string\": \"b\"}]"}), json!({"edits": edit})),
        (json!({"edits": {"old_string": "a", "new_string": "b"}}), json!({"edits": edit})),
        (json!({"edits": ["{\"old_string\": \"a\", \"new_string\": \"b\"}"]}), json!({"edits": edit})),
        (json!({"old_string": "a", "new_string": "b"}), json!({"edits": edit})),
        (json!({"old_string": "a", "new_string": "b", "edits": null, "replace_all": null}), json!({"edits": edit})),
        (json!({"edits": edit, "replace_all": null}), json!({"edits": edit})),
        (json!({"limit": null, "tags": null, "core": null, "edits": null}), json!({})),
    ] {
        assert_eq!(fitted(&sent), Ok(meant), "{sent}");
    }
}

#[test]
fn texts_are_never_converted() {
    for text in ["10", "true", "[1]", "{\"a\": 1}", " null ", ""] {
        let arguments = json!({"name": text}).as_object().unwrap().clone();
        assert_eq!(fit(&schema(), arguments).unwrap(), json!({"name": text}));
    }
}

#[test]
fn ambiguous_values_are_rejected_with_the_accepted_form() {
    let list = "must be a list such as [{\"old_string\": \"...\", \"new_string\": \"...\"}]";
    for (sent, said) in [
        (json!({"name": 7}), "/name must be a text, is 7"),
        (json!({"name": null}), "/name is required: a text"),
        (json!({"kind": "Semantic"}), "/kind must be one of semantic, episodic, is \"Semantic\""),
        (json!({"limit": "ten"}), "/limit must be a whole number from 1 to 50, is \"ten\""),
        (json!({"limit": -1}), "/limit must be a whole number from 1 to 50, is -1"),
        (json!({"limit": 1.5}), "is 1.5"),
        (json!({"limit": 99_999_999_999_i64}), "is 99999999999"),
        (json!({"limit": "1e999"}), "is \"1e999\""),
        (json!({"limit": true}), "is true"),
        (json!({"importance": "high"}), "/importance must be a number, is \"high\""),
        (json!({"importance": "NaN"}), "must be a number"),
        (json!({"core": "yes"}), "/core must be true or false, is \"yes\""),
        (json!({"core": 1}), "must be true or false"),
        (json!({"tags": "a, b"}), "/tags must be a list such as [\"...\", \"...\"], is \"a, b\""),
        (json!({"tags": ""}), "must be a list"),
        (json!({"tags": "[a]"}), "must be a list"),
        (json!({"tags": ["a", 7]}), "/tags/1 must be a text, is 7"),
        (json!({"tags": ["a", null]}), "/tags/1 must be a text, is null"),
        (json!({"metadata": "a"}), "/metadata must be an object such as {\"key\": \"value\"}"),
        (json!({"edits": "a"}), list),
        (json!({"edits": 7}), list),
        (json!({"edits": [7]}), "/edits/0 must be an object"),
        (json!({"edits": [{"old_string": "a"}]}), "/edits/0/new_string is required: a text"),
        (json!({"old_string": "a"}), "/edits/0/new_string is required"),
        (
            json!({"edits": [], "old_string": "a", "new_string": "b"}),
            "/edits give either edits, or new_string, old_string for one of them, not both",
        ),
    ] {
        let refused = fitted(&sent).unwrap_err();
        assert!(refused.contains(said), "{sent}: {refused}");
    }
}

#[test]
fn unknown_names_are_rejected_with_a_suggestion() {
    for (name, meant) in [
        ("lmit", "limit"),
        ("Limit", "limit"),
        ("tag", "tags"),
        ("meta", "metadata"),
        ("oldString", "old_string"),
        ("skill_name", "name"),
    ] {
        let refused = fitted(&json!({name: 1})).unwrap_err();
        assert!(refused.contains("is unknown; allowed are core, edits"), "{refused}");
        assert!(refused.ends_with(&format!("Did you mean {meant}?")), "{refused}");
    }
    assert!(!fitted(&json!({"colour": 1})).unwrap_err().contains("Did you mean"));
    let refused = fitted(&json!({"edits": [{"old_string": "a", "newString": "b"}]})).unwrap_err();
    assert!(refused.contains("/edits/0/newString is unknown") && refused.contains("Did you mean new_string?"));
    assert!(fitted(&json!({"x/y~\n": 1})).unwrap_err().starts_with("/x~1y~0  is unknown"));
}
