//! Describes the values that a schema accepts, so that a model can correct its call.

use rmcp::model::JsonObject;
use serde_json::Value;

/// Maximum number of characters in a value or name that an error quotes.
const SHOWN: usize = 60;
/// Minimum similarity between an unknown name and the known name that is suggested (Jaro-Winkler, from 0 to 1).
const ALIKE: f64 = 0.8;

/// Returns the names of the required members of an object.
pub(super) fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the members of a list's items, if the items are objects.
pub(super) fn properties_of_items(list: &Value) -> Option<&JsonObject> {
    list.get("items")?.get("properties")?.as_object()
}

/// Describes the values that a member accepts; empty if the member has no schema.
pub(super) fn form(schema: Option<&Value>) -> String {
    schema.and_then(Value::as_object).map_or_else(String::new, form_of)
}

/// Describes the values that a schema accepts, with an example for lists of objects.
pub(super) fn form_of(schema: &JsonObject) -> String {
    let named = |key| schema.get(key).and_then(Value::as_i64);
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => match schema.get("enum").and_then(Value::as_array) {
            Some(choices) => {
                let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
                format!("one of {}", choices.join(", "))
            }
            None => "a text".into(),
        },
        Some("integer") => match (named("minimum"), named("maximum")) {
            (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
            (Some(least), None) => format!("a whole number of at least {least}"),
            _ => "a whole number".into(),
        },
        Some("number") => "a number".into(),
        Some("boolean") => "true or false".into(),
        Some("array") => match schema.get("items") {
            Some(items) if items.get("properties").is_some() => format!("a list such as [{}]", example(items)),
            _ => "a list such as [\"...\", \"...\"]".into(),
        },
        Some("object") => "an object such as {\"key\": \"value\"}".into(),
        _ => "something else".into(),
    }
}

/// Renders an example of an object with its required members.
fn example(items: &Value) -> String {
    let members: Vec<String> =
        items.as_object().into_iter().flat_map(required).map(|name| format!("\"{name}\": \"...\"")).collect();
    format!("{{{}}}", members.join(", "))
}

/// Describes an unknown member, and suggests a known name if one is similar.
pub(super) fn unknown(name: &str, known: &JsonObject) -> String {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let of_items = known.values().filter_map(properties_of_items).flat_map(JsonObject::keys).map(String::as_str);
    let candidates = names.iter().copied().chain(of_items);
    let near = candidates.map(|known| (likeness(name, known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let meant = match near {
        Some((likeness, known)) if likeness >= ALIKE => format!(" Did you mean {known}?"),
        _ => String::new(),
    };
    format!("is unknown; allowed are {}.{meant}", names.join(", "))
}

fn likeness(name: &str, known: &str) -> f64 {
    let name = name.to_lowercase();
    let holds =
        name.starts_with(known) || known.len() > 2 && name.contains(known) || name.len() > 2 && known.contains(&name);
    strsim::jaro_winkler(&name, known).max(if holds { 0.9 } else { 0.0 })
}

/// Shortens a value or name for an error message.
pub(super) fn cut(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
