//! Deserializes JSON. An error has the member's pointer and describes the expected value in terms of JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};

use crate::{Error, FieldError};

/// Deserializes JSON.
///
/// # Errors
/// `Malformed` for invalid JSON, with the position; `Invalid` for JSON of another shape, with a pointer to the member.
pub fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|_| explain::<T>(bytes))
}

/// Deserializes a parsed value.
///
/// # Errors
/// An error about the member that does not fit, with its pointer into `value`.
pub fn read_value<T: DeserializeOwned>(value: &Value) -> Result<T, FieldError> {
    serde_path_to_error::deserialize(value).map_err(|error| finding_at(error.path(), &error.inner().to_string()))
}

/// Parses the JSON again, more slowly, to find the invalid member and the reason.
fn explain<T: DeserializeOwned>(bytes: &[u8]) -> Error {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return Error::Malformed(format!("the body is not valid JSON: {error}")),
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let first = serde_path_to_error::deserialize::<_, T>(&mut reader);
    // If an enum is expected, the byte reader reports other types as syntax errors; the value reader reports the type.
    let found = match first {
        Err(error) if error.inner().classify() == Category::Data => Err(error),
        _ => serde_path_to_error::deserialize::<_, T>(value),
    };
    match found {
        Err(error) => Error::Invalid(vec![finding_at(error.path(), &error.inner().to_string())]),
        Ok(_) => Error::invalid("", "cannot be read"),
    }
}

fn finding_at(path: &Path, message: &str) -> FieldError {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => push_member(&mut pointer, key),
            // The variant of an enum has no position in JSON. An unknown segment is the last of the path.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let finding = explain_message(message);
    if let Some(member) = finding.member {
        let mut end = String::new();
        push_member(&mut end, member);
        // Serde's path includes an unknown member, but not a missing or duplicate member. If the body may have one of
        // several forms, the path is empty.
        if finding.is_below || !pointer.ends_with(&end) {
            pointer.push_str(&end);
        }
    }
    FieldError::new(pointer, finding.detail)
}

fn push_member(pointer: &mut String, member: &str) {
    pointer.push('/');
    pointer.push_str(&member.replace('~', "~0").replace('/', "~1"));
}

/// Parts of a serde error message.
struct ParsedMessage<'a> {
    member: Option<&'a str>,
    /// Whether the path ends at the parent of the member.
    is_below: bool,
    detail: String,
}

/// Translates a serde error message about a query parameter. The result has no pointer.
pub fn reason(message: &str) -> String {
    explain_message(message).detail
}

fn explain_message(message: &str) -> ParsedMessage<'_> {
    let message = without_place(message);
    let about = |member, is_below, detail| ParsedMessage { member: Some(member), is_below, detail };
    if let Some(member) = quoted_after(message, "missing field `") {
        return about(member, true, "is missing".into());
    }
    if let Some(member) = quoted_after(message, "duplicate field `") {
        return about(member, true, "is given twice".into());
    }
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let (member, known) =
            rest.rsplit_once("`, expected ").unwrap_or((rest.trim_end_matches("`, there are no fields"), ""));
        let detail = match names(known).as_slice() {
            [] => "is unknown: this object must be empty".into(),
            known => format!("is unknown; allowed are {}", known.join(", ")),
        };
        return about(member, false, detail);
    }
    ParsedMessage { member: None, is_below: false, detail: wrong_value(message) }
}

fn wrong_value(message: &str) -> String {
    if let Some((_, known)) =
        message.strip_prefix("unknown variant `").and_then(|rest| rest.rsplit_once("`, expected "))
    {
        return format!("must be one of {}", names(known).join(", "));
    }
    let given_and_expected = ["invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|kind| message.strip_prefix(kind)?.rsplit_once(", expected "));
    if let Some((given, expected)) = given_and_expected {
        return format!("must be {}, is {}", in_json(expected, given), kind_of(given));
    }
    match message {
        // Messages from chrono and uuid.
        "premature end of input"
        | "trailing input"
        | "input contains invalid characters"
        | "input is out of range"
        | "no possible date and time matching input"
        | "input is not enough for unique date and time" => {
            "must be a date and time such as 2026-01-31T12:00:00Z".into()
        }
        _ if message.starts_with("UUID parsing failed") => "must be a UUID".into(),
        // Messages about query parameters, which are parsed from texts.
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "must be a whole number of at least 0".into()
        }
        "number too large to fit in target type" => "is too large".into(),
        "invalid float literal" | "cannot parse float from empty string" => "must be a number".into(),
        "provided string was not `true` or `false`" => "must be true or false".into(),
        other => other.to_owned(),
    }
}

/// Translates a Rust type in a serde message to JSON.
fn in_json(expected: &str, given: &str) -> String {
    let is_whole = given.starts_with("integer");
    let is_negative = given.starts_with("integer `-");
    let whole = |least: i128, most: i128| match is_whole {
        _ if least == 0 && (!is_whole || is_negative) => "a whole number of at least 0".to_owned(),
        true => format!("a whole number from {least} to {most}"),
        false => "a whole number".to_owned(),
    };
    match expected {
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        "u64" | "usize" => whole(0, u64::MAX.into()),
        "i16" => whole(i16::MIN.into(), i16::MAX.into()),
        "i32" => whole(i32::MIN.into(), i32::MAX.into()),
        "i64" => whole(i64::MIN.into(), i64::MAX.into()),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "string or map" => "a string".into(),
        "a map" => "an object".into(),
        "a sequence" => "a list".into(),
        "a formatted UUID string" | "a UUID string" => "a UUID".into(),
        _ if expected.starts_with("struct ") => "an object".into(),
        _ if expected.contains("date and time") => "a date and time such as 2026-01-31T12:00:00Z".into(),
        other => other.to_owned(),
    }
}

/// Describes the given value. The content of a string is not repeated.
fn kind_of(given: &str) -> String {
    let (kind, value) = given.split_once(" `").map_or((given, None), |(kind, rest)| (kind, rest.strip_suffix('`')));
    match (kind, value) {
        ("integer" | "floating point" | "boolean", Some(value)) => value.to_owned(),
        _ if given.starts_with("string") => "a string".into(),
        ("null" | "unit value", _) => "null".into(),
        ("map", _) => "an object".into(),
        ("sequence", _) => "a list".into(),
        _ => given.to_owned(),
    }
}

/// Removes the position added by the JSON reader, which is useless for a parsed object.
fn without_place(message: &str) -> &str {
    message.rsplit_once(" at line ").filter(|(_, place)| place.contains(" column ")).map_or(message, |(text, _)| text)
}

fn quoted_after<'a>(message: &'a str, prefix: &str) -> Option<&'a str> {
    message.strip_prefix(prefix)?.strip_suffix('`')
}

/// Returns the names between backticks.
fn names(list: &str) -> Vec<&str> {
    list.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests;
