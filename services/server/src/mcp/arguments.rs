//! Arguments as models make them, brought into the form that a tool's schema asks for, or refused with that form.
//!
//! Only what can mean one thing is taken: a number in quotes where a number is wanted, a list as JSON in a text, one text
//! where a list of texts is wanted. A text is never made of anything else, so what is saved is what was sent.

use knowhow_domain::{Error, FieldError, Result};
use rmcp::model::JsonObject;
use serde_json::{Number, Value};

/// Characters of a value or a name that a refusal shows.
const SHOWN: usize = 60;
/// From here on a name that is not known is likely a known one misspelt (Jaro-Winkler, 0 to 1).
const ALIKE: f64 = 0.8;

/// The arguments in the form of the schema.
///
/// # Errors
/// `Invalid` with each member that does not fit, and what would.
pub fn fit(schema: &JsonObject, arguments: JsonObject) -> Result<Value> {
    let mut findings = Vec::new();
    let fitted = Fitting { findings: &mut findings }.object(schema, arguments, "");
    if findings.is_empty() { Ok(Value::Object(fitted)) } else { Err(Error::Invalid(findings)) }
}

struct Fitting<'a> {
    findings: &'a mut Vec<FieldError>,
}

impl Fitting<'_> {
    fn refuse(&mut self, at: &str, detail: String) {
        self.findings.push(FieldError::new(at, detail));
    }

    fn object(&mut self, schema: &JsonObject, members: JsonObject, at: &str) -> JsonObject {
        let Some(known) = schema.get("properties").and_then(Value::as_object) else { return members };
        let mut members = self.gather(known, members, at);
        // Models fill in every member that they see: null is as if left out.
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
                None => self.refuse(&member(at, &cut(&name)), unknown(&name, known)),
            }
        }
        fitted
    }

    /// Members of the items of a list, given beside it: that is a list of one. Agents know such edits from other tools.
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

/// A text that holds JSON of a list or an object, as what it holds; anything else as it is.
fn parsed(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}

/// Whether a text is one item for certain, and not several in some notation.
fn is_one(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains([',', ';', '\n']) && !text.trim_start().starts_with(['[', '{'])
}

fn text(schema: &JsonObject, value: Value) -> Result<Value, Value> {
    let choices = schema.get("enum").and_then(Value::as_array);
    let fits = value.is_string() && choices.is_none_or(|choices| choices.contains(&value));
    if fits { Ok(value) } else { Err(value) }
}

/// The number that a text is, as JSON spells numbers.
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
    // Nearer bounds are the operation's, which says the same over REST.
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

fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The members of a list's items, where those are objects.
fn properties_of_items(list: &Value) -> Option<&JsonObject> {
    list.get("items")?.get("properties")?.as_object()
}

fn form(schema: Option<&Value>) -> String {
    schema.and_then(Value::as_object).map_or_else(String::new, form_of)
}

/// What fits, in words, with an example where the form is not plain.
fn form_of(schema: &JsonObject) -> String {
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
            (Some(least), None) => format!("a whole number from {least} on"),
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

/// An object with what it must have.
fn example(items: &Value) -> String {
    let members: Vec<String> =
        items.as_object().into_iter().flat_map(required).map(|name| format!("\"{name}\": \"...\"")).collect();
    format!("{{{}}}", members.join(", "))
}

fn unknown(name: &str, known: &JsonObject) -> String {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let of_items = known.values().filter_map(properties_of_items).flat_map(JsonObject::keys).map(String::as_str);
    let candidates = names.iter().copied().chain(of_items);
    let near = candidates.map(|known| (likeness(name, known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let meant = match near {
        Some((likeness, known)) if likeness >= ALIKE => format!(" Did you mean {known}?"),
        _ => String::new(),
    };
    format!("is not known here; there are {}.{meant}", names.join(", "))
}

fn likeness(name: &str, known: &str) -> f64 {
    let name = name.to_lowercase();
    let holds =
        name.starts_with(known) || known.len() > 2 && name.contains(known) || name.len() > 2 && known.contains(&name);
    strsim::jaro_winkler(&name, known).max(if holds { 0.9 } else { 0.0 })
}

/// A JSON Pointer below another (RFC 6901, 3).
fn member(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn cut(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
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
    fn what_can_mean_one_thing_is_taken() {
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
    fn what_is_text_stays_as_it_was_sent() {
        for text in ["10", "true", "[1]", "{\"a\": 1}", " null ", ""] {
            let arguments = json!({"name": text}).as_object().unwrap().clone();
            assert_eq!(fit(&schema(), arguments).unwrap(), json!({"name": text}));
        }
    }

    #[test]
    fn what_is_ambiguous_or_wrong_is_refused_with_the_right_form() {
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
    fn names_that_are_not_known_are_answered_with_the_nearest() {
        for (name, meant) in [
            ("lmit", "limit"),
            ("Limit", "limit"),
            ("tag", "tags"),
            ("meta", "metadata"),
            ("oldString", "old_string"),
            ("skill_name", "name"),
        ] {
            let refused = fitted(&json!({name: 1})).unwrap_err();
            assert!(refused.contains("is not known here; there are core, edits"), "{refused}");
            assert!(refused.ends_with(&format!("Did you mean {meant}?")), "{refused}");
        }
        assert!(!fitted(&json!({"colour": 1})).unwrap_err().contains("Did you mean"));
        let refused = fitted(&json!({"edits": [{"old_string": "a", "newString": "b"}]})).unwrap_err();
        assert!(
            refused.contains("/edits/0/newString is not known here") && refused.contains("Did you mean new_string?")
        );
        assert!(fitted(&json!({"x/y~\n": 1})).unwrap_err().starts_with("/x~1y~0  is not known"));
    }
}
