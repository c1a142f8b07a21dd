use super::*;

/// A turn of the program before is read again byte for byte.
#[test]
fn answers_stored_with_turns_left_stay_as_they_are() {
    let stored = r#"{"turn":3,"turns_left":7,"active":[],"too_long":[],"relevant":[],"related":[],"text":""}"#;
    let answer: TurnAnswer = serde_json::from_str(stored).unwrap();
    assert_eq!(serde_json::to_string(&answer).unwrap(), stored);
    let now = stored.replace(r#""turns_left":7"#, r#""max_turns":10"#);
    let answer: TurnAnswer = serde_json::from_str(&now).unwrap();
    assert_eq!(serde_json::to_string(&answer).unwrap(), now);
}
