//! JSON Schemas for tools. They are derived from the same types as the OpenAPI document.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A JSON Schema.
pub type JsonSchema = Arc<JsonObject>;

/// Returns the schema for a type. It is as short as possible, because models receive it with each request. References
/// are inlined, because many clients do not follow them. Optional members can be omitted but not null.
pub fn schema_of<T: ToSchema>() -> JsonSchema {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let parts: HashMap<String, Value> = parts.into_iter().map(|(name, schema)| (name, value(&schema))).collect();
    let mut schema = value(&<T as PartialSchema>::schema());
    inline(&mut schema, &parts);
    without_null(&mut schema);
    without_notes(&mut schema);
    match schema {
        Value::Object(mut object) => {
            object.insert("type".into(), json!("object"));
            object.remove("description");
            Arc::new(object)
        }
        _ => Arc::default(),
    }
}

/// Removes the descriptions of a result's members. Models see the result itself, so they do not need them.
pub fn without_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("description").is_some_and(Value::is_string) {
                object.remove("description");
            }
            object.values_mut().for_each(without_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}

fn value(schema: &RefOr<Schema>) -> Value {
    serde_json::to_value(schema).unwrap_or_default()
}

fn inline(schema: &mut Value, parts: &HashMap<String, Value>) {
    match schema {
        Value::Object(object) => {
            let target = object.get("$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next());
            if let Some(part) = target.and_then(|name| parts.get(name)).and_then(Value::as_object).cloned() {
                object.remove("$ref");
                // The description of the member takes precedence over the description of its type.
                for (key, value) in part.into_iter().filter(|(key, _)| key != "description") {
                    object.entry(key).or_insert(value);
                }
            }
            object.values_mut().for_each(|inner| inline(inner, parts));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| inline(inner, parts)),
        _ => {}
    }
}

fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    object.insert("type".into(), kind);
                }
            }
            if let Some(Value::Array(mut choices)) = object.remove("oneOf") {
                choices.retain(|choice| choice != &json!({ "type": "null" }));
                match choices.as_mut_slice() {
                    [Value::Object(only)] => {
                        for (key, value) in std::mem::take(only) {
                            object.entry(key).or_insert(value);
                        }
                    }
                    _ => drop(object.insert("oneOf".into(), Value::Array(choices))),
                }
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

/// Removes keywords that do not help a model, such as number formats and examples.
fn without_notes(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for note in ["format", "example", "propertyNames"] {
                object.remove(note);
            }
            if object.get("additionalProperties").is_some_and(|open| !open.is_boolean()) {
                object.remove("additionalProperties");
            }
            object.values_mut().for_each(without_notes);
        }
        Value::Array(items) => items.iter_mut().for_each(without_notes),
        _ => {}
    }
}
