//! The committed descriptions of tools and prompts, and a checker for the part of JSON Schema that they use.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// Returns the content of `openapi/mcp-tools.json`.
pub fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/mcp-tools.json"));
        serde_json::from_str(text).unwrap()
    })
}

/// Returns the output schema of a tool, or `None` if it answers only with text.
pub fn output_of(tool: &str) -> Option<&'static Value> {
    let tools = document()["tools"].as_array().unwrap();
    tools.iter().find(|t| t["name"] == tool).unwrap_or_else(|| panic!("no tool {tool}")).get("outputSchema")
}

/// Returns the places where a value breaks a schema or has a member that the schema does not describe.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    undescribed(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let rules = schema.as_object().unwrap_or_else(|| panic!("{at}: no schema: {schema}"));
    for (rule, wanted) in rules {
        let holds = match rule.as_str() {
            "description" | "title" | "format" | "default" | "examples" | "pattern" => true,
            "type" => kinds(wanted).iter().any(|kind| is_a(value, kind)),
            "enum" => wanted.as_array().unwrap().contains(value),
            "required" => value.as_object().is_none_or(|o| wanted.as_array().unwrap().iter().all(|n| has(o, n))),
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
            "minLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 >= wanted.as_u64().unwrap()),
            "maxLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 <= wanted.as_u64().unwrap()),
            "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= wanted.as_u64().unwrap()),
            "properties" | "items" | "additionalProperties" | "propertyNames" => {
                inside(rule, rules, Part { value, at }, found);
                true
            }
            "allOf" => {
                wanted.as_array().unwrap().iter().for_each(|part| check(part, value, at, found));
                true
            }
            "oneOf" => wanted.as_array().unwrap().iter().filter(|part| fits(part, value)).count() == 1,
            "anyOf" => wanted.as_array().unwrap().iter().any(|part| fits(part, value)),
            other => panic!("{at}: the checker does not know {other}"),
        };
        if !holds {
            found.push(format!("{at}: {value} breaks {rule} {wanted}"));
        }
    }
}

/// A value and its path in the whole value.
struct Part<'a> {
    value: &'a Value,
    at: &'a str,
}

/// Checks the items or members of a value.
fn inside(rule: &str, rules: &Map<String, Value>, part: Part<'_>, found: &mut Vec<String>) {
    let Part { value, at } = part;
    let wanted = &rules[rule];
    match (rule, value) {
        ("items", Value::Array(items)) => {
            items.iter().enumerate().for_each(|(n, item)| check(wanted, item, &format!("{at}/{n}"), found));
        }
        ("properties", Value::Object(object)) => {
            for (name, part) in wanted.as_object().unwrap() {
                if let Some(member) = object.get(name) {
                    check(part, member, &format!("{at}/{name}"), found);
                }
            }
        }
        ("propertyNames", Value::Object(object)) => {
            object.keys().for_each(|name| check(wanted, &Value::from(name.as_str()), at, found));
        }
        ("additionalProperties", Value::Object(object)) => {
            let named = |name: &String| rules.get("properties").is_some_and(|p| p.get(name).is_some());
            for (name, member) in object.iter().filter(|(name, _)| !named(name)) {
                match wanted {
                    Value::Bool(true) => {}
                    Value::Bool(false) => found.push(format!("{at}/{name} is not allowed")),
                    part => check(part, member, &format!("{at}/{name}"), found),
                }
            }
        }
        _ => {}
    }
}

/// Collects the members that no part of the schema describes.
fn undescribed(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            let Some(part) = described(schema, &|s| s.get("items")).into_iter().next() else { return };
            items.iter().enumerate().for_each(|(n, item)| undescribed(part, item, &format!("{at}/{n}"), found));
        }
        Value::Object(object) => {
            let open = described(schema, &|s| s.get("properties")).is_empty();
            for (name, member) in object {
                let at = format!("{at}/{name}");
                match described(schema, &|s| s.get("properties")?.get(name)).first() {
                    Some(part) => undescribed(part, member, &at, found),
                    None if open => {}
                    None => found.push(format!("{at} is not described")),
                }
            }
        }
        _ => {}
    }
}

/// Returns what `says` finds in a schema and in the schemas that it combines.
pub fn described<'a>(schema: &'a Value, says: &impl Fn(&'a Value) -> Option<&'a Value>) -> Vec<&'a Value> {
    let parts = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|rule| schema.get(rule)?.as_array()).flatten();
    says(schema).into_iter().chain(parts.flat_map(|part| described(part, says))).collect()
}

fn fits(schema: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found.is_empty()
}

fn has(object: &Map<String, Value>, name: &Value) -> bool {
    object.contains_key(name.as_str().unwrap())
}

fn kinds(wanted: &Value) -> Vec<&str> {
    match wanted {
        Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        kind => vec![kind.as_str().unwrap()],
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("no such type: {other}"),
    }
}

/// Collects a schema and all schemas inside it.
pub fn parts<'a>(schema: &'a Value, into: &mut Vec<&'a Map<String, Value>>) {
    let Some(object) = schema.as_object() else { return };
    into.push(object);
    for (rule, inner) in object {
        match (rule.as_str(), inner) {
            ("properties", Value::Object(named)) => named.values().for_each(|part| parts(part, into)),
            ("allOf" | "oneOf" | "anyOf", Value::Array(list)) => list.iter().for_each(|part| parts(part, into)),
            ("items" | "additionalProperties" | "propertyNames", part) => parts(part, into),
            _ => {}
        }
    }
}

#[test]
fn the_checker_reports_violations() {
    let schema = serde_json::json!({
        "type": "object", "required": ["items"],
        "properties": {"next_cursor": {"type": "string"}, "items": {"type": "array", "items": {
            "type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "version": {"type": "integer"}, "pinned": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}}, "open": {"type": "object"},
            },
        }}},
    });
    let item = |item: Value| serde_json::json!({"items": [item], "next_cursor": "x"});
    let line = serde_json::json!({"name": "a", "tags": ["t"], "version": 1, "pinned": false, "open": {"any": 1}});
    assert_eq!(violations(&schema, &item(line.clone())), Vec::<String>::new());
    for (member, value) in [
        ("name", Value::Null),
        ("version", 1.5.into()),
        ("tags", vec![1].into()),
        ("pinned", "no".into()),
        ("more", 1.into()),
    ] {
        let mut changed = line.clone();
        changed[member] = value;
        assert_eq!(violations(&schema, &item(changed)).len(), 1, "{member}");
    }
    assert!(!violations(&schema, &serde_json::json!({"next_cursor": "x"})).is_empty());
    assert!(!violations(&schema, &serde_json::json!([])).is_empty());
}
