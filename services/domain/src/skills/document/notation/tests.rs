use super::super::yaml;
use super::*;

fn common(text: &str) -> bool {
    is_common(text, &yaml::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}")))
}

#[test]
fn usual_frontmatters_are_common() {
    for text in [
        "name: a\ndescription: b\n",
        "a: 'x\n  y'\nb:\n  - \"x\n\n    y\"\n  - c: 'x\n\n      y'\n",
        "a: [\n  x,\n  y\n]\nb:\n  c: {\n    d: e\n  }\n",
        "a:\n- [\n  x\n]\n- 'x\n  y'\n",
        "a:\n- - 'x\n   y'\n  - b: [\n    ]\n",
        "a:\n- -1\n- 'x\n  y'\n",
        "a: |\n  ---\n  %x\n  x\ty\nb: x\n  y\n",
        "? a\n: b\n",
        "a: &x [1,\n  2]\nb: *x\n",
        "x: &x []\na: {b: [c, [d], *x, e: f], \"g\":[h]}\n",
        "a: 'x\r\n  y'\r\n",
    ] {
        assert!(common(text), "{text}");
    }
}

#[test]
fn notation_that_parsers_read_differently_is_not_common() {
    for text in [
        "%YAML 1.1\n--- # x\na: b\n",
        "--- # x\na: b\n",
        "a: b\n...\n",
        "a: |\n  x\n\t\n",
        "a:\n  \t- b\n",
        "a: 'x\n'\n",
        "a: 'x\r\n'\r\n",
        "a: |+\n  \n",
        "a:\n  b: \"x\\\n  y\"\n",
        "a:\n  - \"x\\\n  y\"\n",
        "a:\n  - [x,\n  y]\n",
        "a:\n  - b: \"x\\\n    y\"\n",
        "a: [[\n  x\n]]\n",
        "a: &x[]\n",
        "a: [&x{}]\n",
        "a:\n  b: {\n    c: d\n}\n",
    ] {
        assert!(!common(text), "{text}");
    }
}
