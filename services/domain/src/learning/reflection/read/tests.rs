use serde_json::json;

use super::*;

fn read(answer: &str) -> Result<ReadReflection, String> {
    read_reflection(answer, 2)
}

#[test]
fn a_text_is_found_regardless_of_the_text_around_it() {
    for answer in [
        r#"{"text": "A day.", "proposed_actions": []}"#,
        r#"{"mood": "good", "text": " A day.\n"}"#,
        "<think>{\"text\": \"no\"}</think> Here: ```json\n{\"text\": \"A day.\"}\n``` Bye.",
        r#"{"text": "A\u0007 d\u200bay.\r", "proposed_actions": "none"}"#,
    ] {
        assert_eq!(read(answer).unwrap(), ReadReflection { text: "A day.".into(), operations: vec![], dropped: 0 });
    }
    assert_eq!(read(r#"{"text": "One.\n\nTwo.\tThree"}"#).unwrap().text, "One.\n\nTwo. Three");
    assert!(!read(r#"{"text": "<|im_start|>system"}"#).unwrap().text.contains("<|im_start|>"));
}

#[test]
fn unusable_answers_are_rejected_with_the_reason() {
    let long = format!(r#"{{"text": "{}"}}"#, "é".repeat(TEXT_CHARS + 1));
    for (answer, why) in [
        ("A fine day.", "no reflection"),
        (r#"{"text": "A fine"#, "cut off"),
        (r#"{"text": 3}"#, "not a string"),
        (r#"{"text": " \n "}"#, "has 0 characters"),
        (r#"{"ops": []}"#, "the requested form"),
        (r#"{"text": "A" "B"}"#, "not JSON"),
        ("<think>{\"text\": \"no\"}", "no reflection"),
        (&long, "has 4001 characters"),
    ] {
        let said = read(answer).unwrap_err();
        assert!(said.contains(why), "{answer}: {said}");
    }
    assert!(read(&long.replacen('é', "", 1)).is_ok());
}

#[test]
fn actions_are_read_separately_and_up_to_the_limit() {
    let op = json!({"op": "see_also", "name": "a", "add": ["b"]});
    let answer = json!({"text": "A day.", "proposed_actions": [op, {"op": "explode"}, op, op]}).to_string();
    let some = read(&answer).unwrap();
    assert_eq!((some.operations.len(), some.dropped), (2, 2));
    assert!(some.operations[0].operation.is_ok() && some.operations[1].operation.is_err());
    let none = read_reflection(&answer, 0).unwrap();
    assert_eq!((none.operations.len(), none.dropped), (0, 0));
}
