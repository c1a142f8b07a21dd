//! Formats parts of responses as text for people.

use serde_json::Value;

use crate::admin::requests::text;

/// Returns `label` and a member of a JSON object. Returns an empty text if the member is missing or empty.
pub(super) fn labelled(label: &str, of: &Value, member: &str) -> String {
    let value = match &of[member] {
        Value::Array(_) => texts(of, member).join(", "),
        _ => text(of, member),
    };
    if value.is_empty() { value } else { format!("{label}{value}") }
}

/// Returns a word if a member of a JSON object is true, otherwise an empty text.
pub(super) fn flag<'a>(word: &'a str, of: &Value, member: &str) -> &'a str {
    if of[member] == true { word } else { "" }
}

/// Returns the elements of an array in a JSON object.
pub(super) fn items<'a>(of: &'a Value, member: &str) -> &'a [Value] {
    of[member].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the texts in an array of a JSON object.
pub(super) fn texts<'a>(of: &'a Value, member: &str) -> Vec<&'a str> {
    items(of, member).iter().filter_map(Value::as_str).collect()
}

/// Splits a text from users into lines. Carriage returns stay, so that they are shown. The lines are indented, so that
/// they cannot look like lines of the command.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| format!("    {line}")).collect()
}

/// Returns a finding of a scan, with its position in the files.
pub(super) fn finding_line(finding: &Value) -> String {
    format!(
        "  {}:{}, bytes {} to {} ({}): {}: {} ({}, {})",
        text(finding, "file"),
        text(finding, "line"),
        text(&finding["span"], "start"),
        text(&finding["span"], "end"),
        text(finding, "view"),
        text(finding, "verdict"),
        text(finding, "reason"),
        text(finding, "category"),
        text(finding, "rule"),
    )
}
