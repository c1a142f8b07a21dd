//! Converts YAML values to JSON by the core schema of YAML 1.2, as hosts do when they read a frontmatter.

use serde_json::{Map, Number, Value};

use super::yaml::{Node, NodeContent, Style};

/// Returns the entries of a mapping as JSON. Returns `None` for other nodes, and if parsers disagree about a value or
/// JSON cannot represent it. Examples are tags, infinities, missing keys, and keys that collide after conversion.
pub(super) fn mapping(node: &Node) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    for (key, value) in node.entries().filter(|_| !node.tagged)? {
        if map.insert(key_text(key)?, json(value)?).is_some() {
            return None;
        }
    }
    Some(map)
}

fn json(node: &Node) -> Option<Value> {
    match &node.shape {
        _ if node.tagged => None,
        NodeContent::Scalar(text, Style::Plain) => plain(text),
        NodeContent::Scalar(text, _) => Some(Value::String(text.clone())),
        NodeContent::Sequence(items) => items.iter().map(json).collect::<Option<_>>().map(Value::Array),
        NodeContent::Mapping(_) => mapping(node).map(Value::Object),
    }
}

/// Converts a key to a property name. The name depends on the key's value, not its spelling: `1.10` becomes `1.1` and
/// `~` becomes empty.
fn key_text(key: &Node) -> Option<String> {
    if key.span.is_empty() {
        return None;
    }
    Some(match json(key)? {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Number(number) => number.as_f64().filter(|_| number.is_f64()).map_or(number.to_string(), float_key),
        other => other.to_string(),
    })
}

/// Prints a float as JavaScript does: whole numbers without a fraction, very large or small numbers with an exponent.
fn float_key(value: f64) -> String {
    const PLAIN: std::ops::Range<f64> = 1e-6..1e21;
    if value == 0.0 {
        return "0".into();
    }
    if PLAIN.contains(&value.abs()) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

/// Checks whether a plain scalar has a JSON value. Infinities and NaN have no JSON value.
pub(super) fn has_json(text: &str) -> bool {
    plain(text).is_some()
}

fn plain(text: &str) -> Option<Value> {
    let word = text.strip_prefix(['-', '+']).unwrap_or(text);
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => None,
        _ if matches!(word, ".inf" | ".Inf" | ".INF") => None,
        _ => match based_digits(text) {
            Some((digits, radix)) => whole(digits, radix).map(Value::Number),
            None if is_decimal(text) => decimal(text).map(Value::Number),
            None => Some(Value::String(text.to_owned())),
        },
    }
}

/// Splits `0o17` or `0x1f` into its digits and radix; `None` for other texts.
fn based_digits(text: &str) -> Option<(&str, u32)> {
    let (digits, radix) = match text.strip_prefix("0o") {
        Some(digits) => (digits, 8),
        None => (text.strip_prefix("0x")?, 16),
    };
    let all_fit = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all_fit.then_some((digits, radix))
}

fn decimal(text: &str) -> Option<Number> {
    let integer = text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from));
    integer.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

fn whole(digits: &str, radix: u32) -> Option<Number> {
    if let Ok(number) = u64::from_str_radix(digits, radix) {
        return Some(number.into());
    }
    let value = digits.chars().filter_map(|c| c.to_digit(radix));
    Number::from_f64(value.fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit)))
}

/// Matches `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (base, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(base, exp)| (base, Some(exp)));
    let exponent = exponent.map(|text| text.strip_prefix(['-', '+']).unwrap_or(text));
    let (whole, fraction) = base.split_once('.').unwrap_or((base, ""));
    digits(whole)
        && digits(fraction)
        && (!whole.is_empty() || !fraction.is_empty())
        && exponent.is_none_or(|text| !text.is_empty() && digits(text))
}

#[cfg(test)]
mod tests;
