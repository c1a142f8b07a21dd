use super::*;

/// Asserts that a turn stored by an earlier release is parsed and serialized without a change.
#[test]
fn stored_answers_with_turns_left_keep_their_bytes() {
    let stored = r#"{"turn":3,"turns_left":7,"active":[],"too_long":[],"relevant":[],"related":[],"text":""}"#;
    let answer: TurnAnswer = serde_json::from_str(stored).unwrap();
    assert_eq!(serde_json::to_string(&answer).unwrap(), stored);
    let now = stored.replace(r#""turns_left":7"#, r#""max_turns":10"#);
    let answer: TurnAnswer = serde_json::from_str(&now).unwrap();
    assert_eq!(serde_json::to_string(&answer).unwrap(), now);
}
