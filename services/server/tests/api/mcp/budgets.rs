//! The iteration budget over MCP: the tool calls of a turn are counted, and each answer beyond the budget contains a
//! notice.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::client::request;
use super::schema;
use crate::answers::{Answer, pluck};
use crate::callers::{Caller, World, skill};
use crate::service::keeper;
use crate::talk::Talk;

const SESSION: &str = "dev.knowhow/session";
const NOTICE: &str =
    "The iteration budget of this message is spent: it allows 6 rounds. Answer the user now with what you have.";

async fn call_with(caller: &Caller, meta: Value, tool: &str, arguments: Value) -> Answer {
    let mut message = request("tools/call", json!({"name": tool, "arguments": arguments}));
    message["params"]["_meta"].as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
    caller.message(&message).await
}

async fn call(talk: &Talk, tool: &str, arguments: Value) -> Answer {
    call_with(&talk.who, json!({SESSION: talk.id}), tool, arguments).await
}

async fn list(talk: &Talk) -> Answer {
    call(talk, "skill_list", json!({})).await
}

/// Returns whether the answer has the notice that the budget is spent. Asserts that the `note` of a structured result
/// agrees.
fn is_past(answer: &Answer) -> bool {
    let result = answer.result();
    let texts = pluck(&result["content"], "text");
    let is_told = texts.len() == 2 && texts[1] == NOTICE;
    assert!(is_told || texts.len() == 1, "{answer}");
    if result["structuredContent"].is_object() {
        let note = result["structuredContent"]["note"].as_str().unwrap_or_default();
        assert_eq!(note.ends_with(NOTICE), is_told, "{answer}");
    }
    is_told
}

/// Acceptance case 20: a voice turn allows six rounds.
#[tokio::test]
async fn seventh_tool_call_of_a_voice_turn_succeeds_with_the_notice() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "voice", "key": "call-7"})).await;
    talk.say("hello").await;
    for n in 1..=6 {
        assert!(!is_past(&list(&talk).await), "{n}");
    }
    let seventh = call(&talk, "skill_save", skill("plan")).await;
    assert!(is_past(&seventh));
    let saved = seventh.result()["structuredContent"].take();
    assert_eq!((&saved["name"], alice.names().await), (&json!("plan"), vec!["plan".to_owned()]));
    // The notice also comes if the session is named by key or header, if the answer is only text, and if the call
    // fails.
    let by_key = call_with(alice, json!({SESSION: "call-7"}), "skill_view", json!({"name": "plan"})).await;
    assert!(is_past(&by_key) && by_key.text().contains("First this"), "{by_key}");
    let by_header = alice.tool("skill_view", json!({"name": "nothing"})).header("Knowhow-Session", &talk.id).await;
    assert!(is_past(&by_header) && by_header.result()["isError"] == true, "{by_header}");
    assert!(schema::output_of("skill_list").unwrap()["properties"]["note"].is_object());
    // The next message has a new budget.
    talk.say("and now?").await;
    assert!(!is_past(&list(&talk).await));
}

#[tokio::test]
async fn calls_are_counted_across_processes() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    talk.say("hello").await;
    let elsewhere = Talk { who: alice.at(keeper()), ..talk.clone() };
    let calls = (0..25).map(|n| list(if n % 2 == 0 { &talk } else { &elsewhere }));
    let past = join_all(calls).await.iter().filter(|answer| is_past(answer)).count();
    assert_eq!(past, 25 - 6);
}

/// Each tool call is a round of the model, even if the call fails.
#[tokio::test]
async fn failed_calls_count_and_other_requests_do_not() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    talk.say("hello").await;
    for _ in 0..3 {
        call(&talk, "skill_view", json!({"name": "nothing"})).await.failed();
        call(&talk, "skill_save", json!({"colour": "red"})).await.failed();
    }
    for method in ["tools/list", "prompts/list", "skills/list"] {
        let mut message = request(method, json!({}));
        message["params"]["_meta"][SESSION] = json!(talk.id);
        alice.message(&message).await.result();
    }
    let mut message = request("prompts/get", json!({"name": "frozen-context"}));
    message["params"]["_meta"][SESSION] = json!(talk.id);
    alice.message(&message).await.result();
    alice.get("/v1/skills").header("Knowhow-Session", &talk.id).await.ok(200);
    talk.tell("/reply", json!({"message": "Six calls."})).await;
    assert_eq!(talk.read().await["budgets_spent"], 0);
    assert!(is_past(&call(&talk, "skill_save", json!({"colour": "red"})).await));
}

/// The taint in `_meta` is recorded before the call, and the call is counted once.
#[tokio::test]
async fn a_call_is_counted_once_and_in_the_session_of_its_meta() {
    let World { alice, .. } = &World::unreviewed().await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    let other = Talk::open(alice, json!({"channel": "voice"})).await;
    talk.say("hello").await;
    other.say("hello").await;
    for n in 1..=7 {
        let mut message = request("tools/call", json!({"name": "skill_list", "arguments": {}}));
        let meta = json!({SESSION: talk.id, "dev.knowhow/tainted_by": "a mail"});
        message["params"]["_meta"].as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
        let answer = alice.message(&message).header("Knowhow-Session", &other.id).await;
        assert_eq!(is_past(&answer), n == 7, "{n}");
    }
    assert!(!is_past(&list(&other).await));
}

#[tokio::test]
async fn a_session_without_a_turn_has_no_budget() {
    let World { alice, bob, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "voice"})).await;
    for n in 0..8 {
        assert!(!is_past(&list(&talk).await));
        let fact = json!({"content": format!("Fact {n}")});
        assert!(!is_past(&call_with(alice, json!({SESSION: "chat-1"}), "memory_save", fact).await));
        assert!(!is_past(&alice.tool("skill_list", json!({})).await));
    }
    // Calls before the turn, calls of other users and calls after the end do not count.
    talk.say("hello").await;
    for _ in 0..8 {
        call_with(bob, json!({SESSION: talk.id}), "skill_list", json!({})).await.result();
    }
    for n in 1..=7 {
        assert_eq!(is_past(&list(&talk).await), n == 7, "{n}");
    }
    talk.tell("/end", json!({})).await;
    assert!(!is_past(&list(&talk).await));
}

#[tokio::test]
async fn a_turn_can_set_the_budget_and_the_reply_records_that_it_is_spent() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::open(alice, json!({"channel": "chat"})).await;
    talk.turn(json!({"message": "plan the year", "max_turns": 6})).await.ok(200);
    for n in 1..=7 {
        assert_eq!(is_past(&list(&talk).await), n == 7, "{n}");
    }
    talk.tell("/reply", json!({"message": "Done."})).await;
    let log = alice.get(&talk.path("/messages")).await.ok(200);
    assert_eq!((&log["items"][1]["budget_spent"], &talk.read().await["budgets_spent"]), (&json!(true), &json!(1)));
    talk.say("thanks").await;
    talk.tell("/reply", json!({"message": "Welcome."})).await;
    assert_eq!(talk.read().await["budgets_spent"], 1);
}
