//! JSON Schemas of tools, from the same descriptions that the OpenAPI document is made of.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The schema of a type, self-contained: references are put in place, as many clients follow none.
pub fn schema_of<T: ToSchema>() -> JsonObject {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let parts: HashMap<String, Value> = parts.into_iter().map(|(name, schema)| (name, value(&schema))).collect();
    let mut schema = value(&<T as PartialSchema>::schema());
    inline(&mut schema, &parts);
    match schema {
        Value::Object(mut object) => {
            object.insert("type".into(), json!("object"));
            object
        }
        _ => JsonObject::new(),
    }
}

/// The same for arguments, of which a model leaves out what it has not got: no member is said to take null.
pub fn arguments_of<T: ToSchema>() -> Arc<JsonObject> {
    let mut schema = Value::Object(schema_of::<T>());
    without_null(&mut schema);
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
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
                for (key, value) in part {
                    object.entry(key).or_insert(value);
                }
            }
            if let Some(example) = object.remove("example") {
                object.insert("examples".into(), json!([example]));
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
