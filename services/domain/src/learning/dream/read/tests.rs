use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::learning::dream::OperationKind;

fn version_shown(name: &str) -> Option<i32> {
    match name {
        "a" => Some(3),
        "b" => Some(7),
        "web/perf" => Some(1),
        _ => None,
    }
}

fn read(answer: &str) -> Result<Vec<ReadOperation>, PlanError> {
    read_plan(answer, &version_shown)
}

fn only(operation: Value) -> Result<Operation, String> {
    let mut read = read(&json!({"ops": [operation]}).to_string()).unwrap();
    assert_eq!(read.len(), 1);
    read.remove(0).operation
}

fn refusal(operation: Value) -> String {
    only(operation).unwrap_err()
}

const PLAN: &str = r#"{"ops":[{"op":"archive","name":"a","version":3,"absorbed_into":"b"}]}"#;

#[test]
fn a_plan_is_found_regardless_of_the_text_around_it() {
    let draft = r#"{"ops":[{"op":"archive","name":"draft","version":1,"absorbed_into":"b"}]}"#;
    for answer in [
        PLAN.to_owned(),
        format!("<think>x</think> {PLAN} bye"),
        format!("<think>one</think>\n<think>{draft}</think>\n```json\n{PLAN}\n```\nDone."),
        format!("Let me see: {draft}, no.</think>\n{PLAN}"),
        format!("Let me see: {{\"ops\": [</think>\n{PLAN}"),
        format!("Sure, for {{name}} and {{other}}: {PLAN}"),
        format!("{{\"thoughts\": \"none\"}} {PLAN}"),
        format!("{{\"plan\": {PLAN}}}"),
        format!("\u{feff}{PLAN}"),
    ] {
        let read = read(&answer).unwrap();
        assert_eq!(read.len(), 1, "{answer}");
        assert_eq!(read[0].operation.as_ref().map(Operation::target), Ok("a"), "{answer}");
    }
    let body = r#"{"ops":[{"op":"create","name":"c","description":"d","body":"Say <think>x</think> {\"ops\":[]}"}]}"#;
    assert!(
        matches!(&read(body).unwrap()[0].operation, Ok(Operation::Create { body, .. }) if body.contains("</think>"))
    );
    assert_eq!(read(r#"{"ops":[]}"#), Ok(Vec::new()));
}

#[test]
fn missing_cut_off_and_invalid_plans_have_different_errors() {
    for answer in ["", "There is nothing to do.", "<think>", "<think>{\"ops\":[]}", "no </think> no", "[1]"] {
        assert_eq!(read(answer), Err(PlanError::NoPlan), "{answer}");
    }
    assert_eq!(read(&format!("Well. <think>perhaps {PLAN}")), Err(PlanError::NoPlan));
    for cut in 1..PLAN.len() {
        assert_eq!(read(&PLAN[..cut]), Err(PlanError::CutOff), "{}", &PLAN[..cut]);
    }
    // A complete plan inside a cut-off object is ignored.
    assert_eq!(read(&format!("{{\"plan\": {PLAN}, \"more\": \"")), Err(PlanError::CutOff));
    for answer in [r#"{"ops": [}"#, r#"{"ops":[], "ops" 1, "x": {"ops":[]}}"#, r#"{"ops":[{"version":1e999}]}"#, "{x}"]
    {
        assert!(matches!(read(answer), Err(PlanError::NotJson(_))), "{answer}");
    }
    for answer in
        [r#"{"ops":{}}"#, r#"{"ops":null}"#, r#"{"plan":[]}"#, r#"{"ops":[],"toDelete":["a"]}"#, r#"{"toSave":"a"}"#]
    {
        assert!(matches!(read(answer), Err(PlanError::NotAPlan(_))), "{answer}");
    }
}

#[test]
fn a_plan_of_more_than_twenty_operations_is_rejected() {
    let plan = |count: usize| json!({"ops": vec![json!({"op": "x"}); count]}).to_string();
    assert_eq!(read(&plan(20)).map(|read| read.len()), Ok(20));
    assert_eq!(read(&plan(21)), Err(PlanError::TooMany(21)));
    assert_eq!(read(&plan(1000)), Err(PlanError::TooMany(1000)));
    assert_eq!(read(&json!({"toDelete": vec!["a"; 21]}).to_string()), Err(PlanError::TooMany(21)));
}

#[test]
fn an_answer_over_the_size_limit_is_rejected() {
    let padded = |bytes: usize| format!("{PLAN}{}", " ".repeat(bytes - PLAN.len()));
    assert!(read(&padded(PLAN_BYTES)).is_ok());
    assert_eq!(read(&padded(PLAN_BYTES + 1)), Err(PlanError::TooLarge(PLAN_BYTES + 1)));
}

#[test]
fn hostile_answers_are_rejected_quickly() {
    let fill = |unit: &str| unit.repeat(PLAN_BYTES / unit.len());
    let started = Instant::now();
    for answer in [
        "x".repeat(50 * 1024 * 1024),
        fill("["),
        fill("{"),
        fill("{\"ops\":"),
        fill("{\"a\":"),
        format!("{{\"ops\":{}", &fill("[")[8..]),
        fill("</think>"),
        fill("<think>"),
        fill("<think></think>"),
        fill("{}</think>"),
        fill("{\"a\":1} "),
        fill("{\"a\":\""),
        fill("\\\""),
        fill("{\"ops\":[]}</think>"),
        format!("{{\"ops\":[{}0]}}", &fill("0,")[16..]),
    ] {
        assert!(read(&answer).is_err());
    }
    // The limit is wide, because the build is not optimised and other tests run at the same time. Quadratic work
    // would take minutes.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn an_invalid_operation_does_not_affect_the_others() {
    let plan = json!({"ops": [
        {"op": "archive", "name": "a", "version": 3, "absorbed_into": "b"},
        {"op": "delete", "name": "a"},
        7,
        {"op": "see_also", "name": "a", "add": ["b"]},
    ]});
    let read = read(&plan.to_string()).unwrap();
    let kinds: Vec<_> = read.iter().map(|read| read.operation.as_ref().ok().map(Operation::kind)).collect();
    assert_eq!(kinds, [Some(OperationKind::Archive), None, None, Some(OperationKind::SeeAlso)]);
    assert_eq!(read[1].raw, plan["ops"][1]);
    assert!(read[1].operation.as_ref().unwrap_err().contains("delete"));
}

#[test]
fn unknown_members_and_wrong_types_are_refused() {
    for member in ["pinned", "importance", "usage", "source", "created_at", "versions", "absorbed_into"] {
        let mut operation = json!({"op": "create", "name": "c", "description": "d", "body": "b"});
        assert!(only(operation.clone()).is_ok());
        operation[member] = json!(true);
        assert!(refusal(operation).contains(member), "{member}");
    }
    for operation in [
        json!({}),
        json!({"name": "a"}),
        json!({"op": 1, "name": "a"}),
        json!({"op": "Archive", "name": "a", "version": 3, "absorbed_into": "b"}),
        json!({"op": "archive", "name": 5, "version": 3, "absorbed_into": "b"}),
        json!({"op": "archive", "name": "a", "version": "3", "absorbed_into": "b"}),
        json!({"op": "archive", "name": "a", "version": 3.5, "absorbed_into": "b"}),
        json!({"op": "archive", "name": "a", "version": 4_294_967_296_u64, "absorbed_into": "b"}),
        json!({"op": "archive", "name": "a", "absorbed_into": "b"}),
        json!({"op": "see_also", "name": "a", "add": "b"}),
        json!({"op": "merge", "into": "a", "sources": [{"name": "b"}], "description": "d", "body": "b"}),
        json!({"op": "patch", "name": "a", "version": 3, "edits": [{"old_string": "x", "new_string": "y", "pinned": 1}]}),
        json!(null),
        json!([]),
    ] {
        assert!(!refusal(operation.clone()).is_empty(), "{operation}");
    }
}

#[test]
fn invalid_and_lookalike_names_are_refused() {
    for name in ["pl\u{430}n", "A", "a b", "../a", "a/", "", "a\u{200b}", "a\n", "ａ", "a\0"] {
        for operation in [
            json!({"op": "create", "name": name, "description": "d", "body": "b"}),
            json!({"op": "merge", "into": name, "sources": [{"name": "a", "version": 3}], "description": "d", "body": "b"}),
            json!({"op": "merge", "into": "a", "sources": [{"name": name, "version": 3}], "description": "d", "body": "b"}),
            json!({"op": "patch", "name": name, "version": 3, "edits": [{"old_string": "x", "new_string": ""}]}),
            json!({"op": "parent", "name": name, "members": ["a"], "description": "d", "body": "b"}),
            json!({"op": "parent", "name": "a", "members": [name], "description": "d", "body": "b"}),
            json!({"op": "see_also", "name": name, "add": ["a"]}),
            json!({"op": "see_also", "name": "a", "add": [name]}),
            json!({"op": "archive", "name": name, "version": 3, "absorbed_into": "b"}),
            json!({"op": "archive", "name": "a", "version": 3, "absorbed_into": name}),
        ] {
            assert!(only(operation.clone()).is_err(), "{operation}");
        }
    }
}

#[test]
fn empty_texts_and_lists_are_refused() {
    for (operation, word) in [
        (json!({"op": "create", "name": "c", "description": "d", "body": " \n"}), "body"),
        (json!({"op": "create", "name": "c", "description": "", "body": "b"}), "description"),
        (json!({"op": "parent", "name": "c", "members": [], "description": "d", "body": "b"}), "members"),
        (json!({"op": "merge", "into": "c", "sources": [], "description": "d", "body": "b"}), "sources"),
        (json!({"op": "patch", "name": "a", "version": 3, "edits": []}), "edits"),
        (json!({"op": "patch", "name": "a", "version": 3, "edits": [{"old_string": " ", "new_string": "x"}]}), "blank"),
        (json!({"op": "see_also", "name": "a", "add": []}), "add"),
        (json!({"op": "see_also", "name": "a", "add": vec!["b"; 101]}), "101"),
    ] {
        assert!(refusal(operation).contains(word), "{word}");
    }
    let twice = json!([{"name": "a", "version": 3}, {"name": "a", "version": 3}]);
    let merge = json!({"op": "merge", "into": "c", "sources": twice, "description": "d", "body": "b"});
    assert!(refusal(merge).contains("twice"));
}

#[test]
fn a_reason_is_one_short_line() {
    let long = "x\n<knowhow>".repeat(1000);
    let reason = refusal(json!({"op": long}));
    assert!(reason.chars().count() <= REASON_CHARS + 1 && !reason.contains(['\n', '<']), "{reason}");
}

#[test]
fn deletions_without_a_saved_replacement_are_ignored() {
    let read = read(r#"{"toDelete":["a",{"name":"b"}],"toSave":[]}"#).unwrap();
    let nothing = "a deletion without a saved replacement is ignored";
    let reasons: Vec<_> = read.iter().map(|read| read.operation.clone().unwrap_err()).collect();
    assert_eq!(reasons, [nothing, nothing]);
    assert_eq!(read[1].raw, json!({"toDelete": {"name": "b"}}));
}

#[test]
fn a_save_of_several_sources_becomes_a_merge() {
    let answer = json!({
        "toSave": [{"name": "a", "content": "Do both.", "description": "Both.", "sourceNames": ["a", "b"]}],
        "toDelete": ["b", {"name": "a"}],
    });
    let read = read(&answer.to_string()).unwrap();
    let merged = |name: &str, version| Merged { name: name.to_owned(), version };
    let expected = Operation::Merge {
        into: "a".to_owned(),
        sources: vec![merged("a", 3), merged("b", 7)],
        description: "Both.".to_owned(),
        body: "Do both.".to_owned(),
        reason: String::new(),
    };
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].operation, Ok(expected));
}

#[test]
fn rockbots_members_are_accepted() {
    let answer = json!({"toSave": [
        {"name": "c", "summary": "It.", "content": "Do it.", "seeAlso": ["a", "b"]},
        {"name": "d", "summary": "It.", "content": "Do it.", "seeAlso": ["A b"]},
    ], "toDelete": [{"name": "a", "reason": "it is old"}]});
    let read = read(&answer.to_string()).unwrap();
    let Ok(Operation::Create { description, body, .. }) = &read[0].operation else { panic!("{read:?}") };
    assert_eq!((description.as_str(), body.as_str()), ("It.", "Do it.\n\nSee also: `a`, `b`\n"));
    assert!(read[1].operation.is_err(), "an invalid name");
    assert_eq!(read[2].operation, Err("a deletion without a saved replacement is ignored".to_owned()));
}

#[test]
fn every_operation_may_have_a_reason() {
    for operation in [
        json!({"op": "create", "name": "c", "description": "d", "body": "b", "reason": "r"}),
        json!({"op": "merge", "into": "a", "sources": [{"name": "a", "version": 3}], "description": "d", "body": "b", "reason": "r"}),
        json!({"op": "patch", "name": "a", "version": 3, "edits": [{"old_string": "x", "new_string": "y"}], "reason": "r"}),
        json!({"op": "parent", "name": "c", "members": ["a"], "description": "d", "body": "b", "reason": "r"}),
        json!({"op": "see_also", "name": "a", "add": ["b"], "reason": "r"}),
        json!({"op": "archive", "name": "a", "version": 3, "absorbed_into": "b", "reason": "r"}),
    ] {
        assert!(only(operation.clone()).is_ok(), "{operation}");
    }
}

#[test]
fn other_saves_create_skills_or_are_refused() {
    let answer = json!({"toSave": [
        {"name": "c", "body": "Do it.", "description": "It."},
        {"name": "a", "content": "Other text.", "description": "It."},
        {"name": "c", "content": " ", "description": "Blank.", "sourceNames": ["a", "b"]},
        {"name": "c", "content": "x", "description": "d", "sourceNames": ["a", "zzz"]},
        {"name": "c", "content": "x", "description": "d", "pinned": true},
        {"name": "c", "content": "x"},
    ], "toDelete": ["a", "b", 5]});
    let read = read(&answer.to_string()).unwrap();
    assert!(
        matches!(&read[0].operation, Ok(Operation::Create { name, evidence, .. }) if name == "c" && evidence.is_empty())
    );
    let reasons: Vec<_> = read[1..].iter().map(|read| read.operation.clone().unwrap_err()).collect();
    for (reason, word) in reasons.iter().zip([
        "instead of overwriting",
        "body is blank",
        "'zzz' was not shown",
        "pinned",
        "description is blank",
        "replacement",
    ]) {
        assert!(reason.contains(word), "{reason}: {word}");
    }
    // The save that would replace `a` and `b` is blank, so `a` and `b` are not deleted either.
    assert_eq!(reasons.len(), 8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_answer_is_read_or_refused(answer in "(\\{|\\}|\\[|\\]|\"|,|:|\"ops\"|\"op\":\"create\"|\"toSave\"|<think>|</think>|a|1| |\\\\){0,40}") {
        let _ = read(&answer);
    }

    #[test]
    fn any_text_is_read_or_refused(answer in any::<String>()) {
        let _ = read(&answer);
    }
}

#[test]
fn nul_anywhere_in_an_operation_is_refused() {
    let archive =
        |reason: &str| json!({"op": "archive", "name": "a", "version": 3, "absorbed_into": "b", "reason": reason});
    let edits = json!([{"old_string": "x", "new_string": "y\0"}]);
    for operation in [
        archive("be\0cause"),
        json!({"op": "patch", "name": "a", "version": 3, "edits": edits}),
        json!({"op": "create", "name": "new", "description": "d", "body": "x", "evidence": ["s1\0"]}),
    ] {
        assert_eq!(refusal(operation), "it contains a zero byte");
    }
    assert!(only(archive("because")).is_ok());
}
