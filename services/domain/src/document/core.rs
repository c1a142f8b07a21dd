//! YAML values as JSON by the core schema of YAML 1.2, which is how hosts read a frontmatter.

use serde_json::{Map, Number, Value};

use super::yaml::{Node, Shape, Style};

/// The entries of a mapping; `None` for any other node, and where readers differ or JSON has no word for it: tags,
/// infinities, absent keys, keys that become one.
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
        Shape::Scalar(text, Style::Plain) => plain(text),
        Shape::Scalar(text, _) => Some(Value::String(text.clone())),
        Shape::Sequence(items) => items.iter().map(json).collect::<Option<_>>().map(Value::Array),
        Shape::Mapping(_) => mapping(node).map(Value::Object),
    }
}

/// A key as a property name: what it means, not how it is written, so that `1.10` is `1.1` and `~` is empty.
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

/// Whole numbers without a fraction, as JavaScript prints them; beyond its plain range with an exponent.
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

/// Whether a plain scalar has a JSON value: infinities and what is not a number have none.
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

/// The digits of `0o17` and `0x1f`, and their radix.
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

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
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
mod tests {
    use serde_json::json;

    use super::super::yaml;
    use super::*;

    fn read(text: &str) -> Option<Map<String, Value>> {
        mapping(&yaml::parse(text).unwrap())
    }

    #[test]
    fn plain_scalars_mean_what_the_core_schema_says() {
        for (text, value) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("null", Value::Null),
            ("Null", Value::Null),
            ("NULL", Value::Null),
            ("nUll", json!("nUll")),
            ("true", json!(true)),
            ("True", json!(true)),
            ("TRUE", json!(true)),
            ("tRUE", json!("tRUE")),
            ("false", json!(false)),
            ("False", json!(false)),
            ("FALSE", json!(false)),
            ("yes", json!("yes")),
            ("off", json!("off")),
            ("0", json!(0)),
            ("12", json!(12)),
            ("+12", json!(12)),
            ("-12", json!(-12)),
            ("010", json!(10)),
            ("-010", json!(-10)),
            ("1_000", json!("1_000")),
            ("12:30:45", json!("12:30:45")),
            ("0o17", json!(15)),
            ("0o18", json!("0o18")),
            ("0o", json!("0o")),
            ("0O17", json!("0O17")),
            ("-0o17", json!("-0o17")),
            ("0x1F", json!(31)),
            ("0xfG", json!("0xfG")),
            ("0x", json!("0x")),
            ("+0x1", json!("+0x1")),
            ("0b11", json!("0b11")),
            ("0x1ffffffffffffffff", json!(36_893_488_147_419_103_231_f64)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!(18_446_744_073_709_551_616_f64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("-9223372036854775809", json!(-9_223_372_036_854_775_809_f64)),
            ("1.10", json!(1.1)),
            ("1.", json!(1.0)),
            (".5", json!(0.5)),
            ("+.5", json!(0.5)),
            ("-1.5", json!(-1.5)),
            (".", json!(".")),
            ("-", json!("-")),
            ("+", json!("+")),
            ("-.", json!("-.")),
            ("1.2.3", json!("1.2.3")),
            ("1e3", json!(1000.0)),
            ("1.5E-2", json!(0.015)),
            (".5e+1", json!(5.0)),
            ("1.e1", json!(10.0)),
            ("e1", json!("e1")),
            ("1e", json!("1e")),
            ("1e+", json!("1e+")),
            ("1e5e5", json!("1e5e5")),
            ("1e5.5", json!("1e5.5")),
            ("--1", json!("--1")),
            (".iNf", json!(".iNf")),
            ("-.nan", json!("-.nan")),
            ("inf", json!("inf")),
            ("NaN", json!("NaN")),
            ("infinity", json!("infinity")),
            ("2024-01-01", json!("2024-01-01")),
            ("２", json!("２")),
        ] {
            assert_eq!(plain(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_json_cannot_hold_is_not_read() {
        let long = format!("0x{}", "f".repeat(300));
        for text in [".inf", "+.Inf", "-.INF", ".nan", ".NaN", ".NAN", "1e999", "-7e12345", &long] {
            assert_eq!(plain(text), None, "{text}");
            assert_eq!(read(&format!("a: [{text}]\n")), None);
            assert_eq!(read(&format!("{text}: a\n")), None);
            assert!(read(&format!("a: '{text}'\n")).is_some());
        }
        for text in ["a: !!int 1\n", "a: !x {}\n", "a: !!seq []\n", "!x a: b\n", "a: !!str\n", "!x {a: b}\n", ": a\n"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn quoted_and_block_scalars_are_texts() {
        let map = read("a: '1'\nb: \"null\"\nc: |\n  1\nd: >-\n  true\n  false\ne: !!str 12\n").unwrap();
        assert_eq!(Value::Object(map), json!({"a": "1", "b": "null", "c": "1\n", "d": "true false", "e": "12"}));
    }

    #[test]
    fn collections_and_aliases_are_expanded() {
        let map = read("a: &x {k: 1.0, l: [0x10, '2', ~]}\nb: *x\nc: []\nd: {}\n").unwrap();
        let inner = json!({"k": 1.0, "l": [16, "2", null]});
        assert_eq!(Value::Object(map), json!({"a": inner, "b": inner, "c": [], "d": {}}));
        assert_eq!(read("- a\n"), None);
        assert_eq!(read("a\n"), None);
    }

    #[test]
    fn keys_are_named_by_what_they_mean() {
        for (key, name) in [
            ("a b", "a b"),
            ("~", ""),
            ("True", "true"),
            ("010", "10"),
            ("1.10", "1.1"),
            ("2.0", "2"),
            ("-0.0", "0"),
            ("1e21", "1e+21"),
            ("1.5e-7", "1.5e-7"),
            ("1e20", "100000000000000000000"),
            ("'1.10'", "1.10"),
            ("<<", "<<"),
            ("2024-01-01", "2024-01-01"),
        ] {
            assert_eq!(read(&format!("{key}: x")).unwrap().keys().collect::<Vec<_>>(), [name], "{key}");
        }
        assert_eq!(read("1: a\n1.0: b\n"), None);
        assert_eq!(read("a: {'': a, ~: b}\n"), None);
    }
}
