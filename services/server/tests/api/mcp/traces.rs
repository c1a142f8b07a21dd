//! The log line of a message, and its trace.

use serde_json::{Value, json};

use super::client::request;
use crate::answers::Answer;
use crate::callers::{Caller, World, skill};
use crate::service::{poll_async, shared};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Returns the only log line about the request of this answer.
async fn line(answer: &Answer) -> String {
    let id = answer.header("x-request-id").to_owned();
    poll_async("the line in the log", async || {
        let log = shared().log();
        let mut lines = log.lines().filter(|line| line.contains(&id) && line.contains("\"elapsed_us\""));
        let line = lines.next()?.to_owned();
        assert!(lines.next().is_none(), "{line}");
        Some(line)
    })
    .await
}

/// Returns how many times a line contains a member.
fn count(line: &str, member: &str) -> usize {
    line.matches(&format!("\"{member}\":")).count()
}

/// Returns whether a member of the line has this value.
fn says(line: &str, word: &str) -> bool {
    line.contains(&format!(":\"{word}\""))
}

fn traced(method: &str, params: Value, traceparent: &Value) -> Value {
    let mut message = request(method, params);
    message["params"]["_meta"]["traceparent"] = traceparent.clone();
    message
}

async fn view(alice: &Caller, traceparent: &Value) -> Answer {
    let message = traced("tools/call", json!({"name": "skill_view", "arguments": {"name": "plan"}}), traceparent);
    alice.message(&message).await
}

#[tokio::test]
async fn the_log_names_the_method_or_tool() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create_all(&["plan"]).await;
    for (method, params, word) in [
        ("tools/call", json!({"name": "skill_view", "arguments": {"name": "plan"}}), "skill_view"),
        ("tools/call", json!({"name": "secret-tool", "arguments": {}}), "tools/call"),
        ("tools/list", json!({}), "tools/list"),
        ("server/discover", json!({}), "server/discover"),
        ("resources/read", json!({"uri": "skill://plan/SKILL.md"}), "resources/read"),
        ("skills/list", json!({}), "skills/list"),
        ("prompts/get", json!({"name": "skills-index"}), "prompts/get"),
        ("secret/method", json!({}), "other"),
    ] {
        let answer = alice.rpc(method, params).await;
        let line = line(&answer).await;
        assert!(says(&line, word), "{word}: {line}");
        let record: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&record["path"], &record["status"]), (&json!("/mcp"), &json!(answer.status)));
    }
    let log = shared().log();
    for unsaid in ["secret-tool", "secret/method", "skill://", "First this", world.alice.token.as_deref().unwrap()] {
        assert!(!log.contains(unsaid), "{unsaid}");
    }
}

/// Duplicate members are a fault: readers of the log use only one of them, or reject the line.
#[tokio::test]
async fn no_log_line_has_duplicate_members() {
    let world = World::new().await;
    let alice = &world.alice;
    for answer in [alice.rpc("tools/list", json!({})).await, alice.get("/v1/skills").await, alice.get("/none").await] {
        let line = line(&answer).await;
        let record: Value = serde_json::from_str(&line).unwrap();
        for member in record.as_object().unwrap().keys() {
            assert_eq!(count(&line, member), 1, "{member}: {line}");
        }
        assert_eq!(record["message"], "request", "{line}");
    }
}

#[tokio::test]
async fn a_message_continues_the_trace_in_its_meta() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create_all(&["plan"]).await;
    let answer = view(alice, &json!(format!("00-{TRACE}-00f067aa0ba902b7-01"))).await;
    answer.done("skill_view");
    let continued = answer.header("traceparent");
    assert!(continued.starts_with(&format!("00-{TRACE}-")) && continued.ends_with("-01"), "{continued}");
    assert!(!continued.contains("00f067aa0ba902b7"), "{continued}");
    let record: Value = serde_json::from_str(&line(&answer).await).unwrap();
    assert_eq!(record["trace_id"], TRACE);
}

#[tokio::test]
async fn the_trace_header_takes_precedence_over_the_meta() {
    let world = World::new().await;
    let alice = &world.alice;
    let other = TRACE.replace('4', "5");
    let message = traced("tools/list", json!({}), &json!(format!("00-{TRACE}-00f067aa0ba902b7-01")));
    let answer = alice.message(&message).header("traceparent", &format!("00-{other}-00f067aa0ba902b7-00")).await;
    assert!(answer.header("traceparent").starts_with(&format!("00-{other}-")), "{answer}");
    let record: Value = serde_json::from_str(&line(&answer).await).unwrap();
    assert_eq!(record["trace_id"], other);
    // An invalid header is ignored.
    let answer = alice.message(&message).header("traceparent", "x").await;
    assert!(answer.header("traceparent").starts_with(&format!("00-{TRACE}-")), "{answer}");
}

#[tokio::test]
async fn an_invalid_trace_is_ignored() {
    let world = World::new().await;
    world.alice.create_all(&["plan"]).await;
    for odd in [
        json!(""),
        json!("x"),
        json!(7),
        json!(null),
        json!({"a": 1}),
        json!(format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32))),
        json!(format!("00-{TRACE}-00f067aa0ba902b7-01\r\nX-Evil: 1")),
        json!(format!("00-{TRACE}-00f067aa0ba902b7-01-more")),
        json!(format!("ff-{TRACE}-00f067aa0ba902b7-01")),
        json!("x".repeat(100_000)),
    ] {
        let answer = view(&world.alice, &odd).await;
        answer.done("skill_view");
        assert!(answer.headers.get("traceparent").is_none() && answer.headers.get("x-evil").is_none(), "{answer}");
    }
}

/// Requests that are refused before the message is read are logged too.
#[tokio::test]
async fn refused_requests_are_logged() {
    let World { alice, anonymous, read_only, .. } = &World::new().await;
    for answer in [
        anonymous.rpc("tools/list", json!({})).await,
        alice.bytes(b"{").await,
        alice.message(&request("tools/list", json!({}))).header("Origin", "http://evil.example").await,
        read_only.tool("skill_save", skill("x")).await,
    ] {
        answer.any_error();
        let record: Value = serde_json::from_str(&line(&answer).await).unwrap();
        assert_eq!((&record["status"], &record["path"]), (&json!(answer.status), &json!("/mcp")));
    }
}
