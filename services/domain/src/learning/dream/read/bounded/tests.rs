use serde_json::json;

use super::*;

#[test]
fn small_values_stay_and_large_ones_are_cut() {
    let small = json!({"op": "archive", "name": "a", "version": 1, "list": [null, true, 1.5, {"x": "y"}]});
    assert_eq!(bounded(&small), small);
    let text = bounded(&json!({"text": "ä".repeat(3_000)}));
    assert_eq!(text["text"].as_str().map(|text| text.chars().count()), Some(2_001));
    assert_eq!(bounded(&json!([{"a": {"b": [{"c": 1}]}}])), json!([{"a": {"b": ["…"]}}]));
    assert_eq!(bounded(&json!(vec![1; 1_000])).as_array().map(Vec::len), Some(ENTRIES));
    let many = json!(vec![vec![vec!["z".repeat(300); 33]; 33]; 33]);
    assert!(bounded(&many).to_string().chars().count() < 2 * CHARS);
    assert_eq!(bounded(&json!("a\0b")), json!("ab"));
}
