//! Converts arguments that models send to the types in a tool's schema. Arguments that cannot be converted are rejected
//! with a description of the accepted values.
//!
//! Only unambiguous values are converted: a number in quotes, a list as JSON in a string, a single string for a list
//! of strings. A value of another type is never converted to a string, so saved texts are exactly those that were
//! sent.

mod forms;
#[cfg(test)]
mod tests;

use knowhow_domain::{Error, FieldError, Result};
use rmcp::model::JsonObject;
use serde_json::{Number, Value};

use self::forms::{cut, form, form_of, properties_of_items, required, unknown};

/// Converts arguments to the types in the schema.
///
/// # Errors
/// `Invalid`, with each member that cannot be converted and the values that it accepts.
pub fn fit(schema: &JsonObject, arguments: JsonObject) -> Result<Value> {
    let mut findings = Vec::new();
    let fitted = ArgumentFitter { findings: &mut findings }.object(schema, arguments, "");
    if findings.is_empty() { Ok(Value::Object(fitted)) } else { Err(Error::Invalid(findings)) }
}

struct ArgumentFitter<'a> {
    findings: &'a mut Vec<FieldError>,
}

impl ArgumentFitter<'_> {
    fn refuse(&mut self, at: &str, detail: String) {
        self.findings.push(FieldError::new(at, detail));
    }

    fn object(&mut self, schema: &JsonObject, members: JsonObject, at: &str) -> JsonObject {
        let Some(known) = schema.get("properties").and_then(Value::as_object) else { return members };
        let mut members = self.gather(known, members, at);
        // Models often send all members that they know, so null counts as absent.
        members.retain(|name, value| !(value.is_null() && known.contains_key(name)));
        for name in required(schema).filter(|name| !members.contains_key(*name)) {
            self.refuse(&member(at, name), format!("is required: {}", form(known.get(name))));
        }
        let mut fitted = JsonObject::new();
        for (name, value) in members {
            match known.get(&name).and_then(Value::as_object) {
                Some(part) => {
                    let value = self.value(part, value, &member(at, &name));
                    fitted.insert(name, value);
                }
                None if schema.get("additionalProperties") == Some(&Value::Bool(true)) => {
                    fitted.insert(name, value);
                }
                None => self.refuse(&member(at, &cut(&name)), unknown(&name, known)),
            }
        }
        fitted
    }

    /// Makes a list with one item if the members of an item are given next to the list. Agents know this form for edits
    /// from other tools.
    fn gather(&mut self, known: &JsonObject, mut members: JsonObject, at: &str) -> JsonObject {
        for (list, items) in known.iter().filter_map(|(name, part)| Some((name, properties_of_items(part)?))) {
            let strays: Vec<String> = members
                .keys()
                .filter(|name| !known.contains_key(*name) && items.contains_key(*name))
                .cloned()
                .collect();
            let item: JsonObject = strays.iter().filter_map(|name| members.remove_entry(name)).collect();
            if item.values().all(Value::is_null) {
                continue;
            }
            if members.get(list).is_some_and(|given| !given.is_null()) {
                let names = strays.join(", ");
                self.refuse(&member(at, list), format!("give either {list}, or {names} for one of them, not both"));
            } else {
                members.insert(list.clone(), Value::Array(vec![Value::Object(item)]));
            }
        }
        members
    }

    fn value(&mut self, schema: &JsonObject, value: Value, at: &str) -> Value {
        let fitted = match schema.get("type").and_then(Value::as_str) {
            Some("string") => text(schema, value),
            Some("integer") => integer(schema, value),
            Some("number") => number(value),
            Some("boolean") => boolean(value),
            Some("array") => return self.array(schema, value, at),
            Some("object") => {
                return match parsed(value) {
                    Value::Object(members) => Value::Object(self.object(schema, members, at)),
                    other => self.unfit(schema, &other, at),
                };
            }
            _ => Ok(value),
        };
        fitted.unwrap_or_else(|value| self.unfit(schema, &value, at))
    }

    fn array(&mut self, schema: &JsonObject, value: Value, at: &str) -> Value {
        let items = schema.get("items").and_then(Value::as_object);
        let kind = items.and_then(|items| items.get("type")).and_then(Value::as_str).unwrap_or_default();
        let list = match (parsed(value), kind) {
            (Value::Array(list), _) => list,
            (Value::Object(one), "object") => vec![Value::Object(one)],
            (Value::String(one), "string") if is_one(&one) => vec![Value::String(one)],
            (other, _) => return self.unfit(schema, &other, at),
        };
        let Some(items) = items else { return Value::Array(list) };
        let fit = |(place, item)| self.value(items, item, &format!("{at}/{place}"));
        Value::Array(list.into_iter().enumerate().map(fit).collect())
    }

    fn unfit(&mut self, schema: &JsonObject, value: &Value, at: &str) -> Value {
        self.refuse(at, format!("must be {}, is {}", form_of(schema), cut(&value.to_string())));
        Value::Null
    }
}

/// Parses a string that contains a JSON list or object. Returns other values unchanged.
fn parsed(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}

/// Returns whether a text is certainly a single item and not a list in some notation.
fn is_one(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains([',', ';', '\n']) && !text.trim_start().starts_with(['[', '{'])
}

fn text(schema: &JsonObject, value: Value) -> Result<Value, Value> {
    let choices = schema.get("enum").and_then(Value::as_array);
    let fits = value.is_string() && choices.is_none_or(|choices| choices.contains(&value));
    if fits { Ok(value) } else { Err(value) }
}

/// Parses a number in JSON notation.
fn read_number(text: &str) -> Option<Number> {
    serde_json::from_str(text.trim()).ok()
}

fn integer(schema: &JsonObject, value: Value) -> Result<Value, Value> {
    let read = match &value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => read_number(text),
        _ => None,
    };
    let whole = |number: Number| match number.as_i64() {
        Some(whole) => Some(whole),
        None => number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < f64::from(i32::MAX)).map(|f| f as i64),
    };
    // The operation checks the exact bounds, with the same error as in REST.
    let is_negative_at_most = schema.get("minimum").and_then(Value::as_i64).is_none_or(|minimum| minimum < 0);
    let fits = |number: &i64| i32::try_from(*number).is_ok() && (*number >= 0 || is_negative_at_most);
    read.and_then(whole).filter(fits).map(Value::from).ok_or(value)
}

fn number(value: Value) -> Result<Value, Value> {
    match &value {
        Value::Number(_) => Ok(value),
        Value::String(text) => read_number(text).map(Value::Number).ok_or(value),
        _ => Err(value),
    }
}

fn boolean(value: Value) -> Result<Value, Value> {
    match &value {
        Value::Bool(_) => Ok(value),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
        _ => Err(value),
    }
}

/// Appends the name of a member to a JSON Pointer (RFC 6901, 3).
fn member(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}
