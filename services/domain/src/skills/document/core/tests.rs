use serde_json::json;

use super::super::yaml;
use super::*;

fn read(text: &str) -> Option<Map<String, Value>> {
    mapping(&yaml::parse(text).unwrap())
}

#[test]
fn plain_scalars_follow_the_core_schema() {
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
fn values_that_json_cannot_represent_are_rejected() {
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
fn keys_are_converted_by_their_values() {
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
