//! Tests of the chat model's client with a faulty server. Retries and pauses are tested in `models/remote`.

use std::time::Duration;

use knowhow_domain::Error;
use knowhow_testing::{FakeServer, Reply};
use serde::Deserialize;
use serde_json::json;

use super::{ChatError, ChatLimits, ChatModel, Prompt, read_json_answer, read_only_json_answer, without_thoughts};
use crate::Priority;
use crate::models::remote::RemoteSettings;
use crate::models::remote::tests::settings;

const HELLO: Prompt<'_> = Prompt { system: "be brief", user: "hello" };
const LIMITS: ChatLimits = ChatLimits { tokens: 500, bytes: 100, total: Duration::from_secs(30) };

fn model(fake: &FakeServer) -> ChatModel {
    ChatModel::new(RemoteSettings { retries: 0, ..settings(fake) }).unwrap()
}

async fn outcome(reply: Reply) -> Result<String, ChatError> {
    model(&FakeServer::start([reply])).complete(HELLO, Priority::Change, LIMITS).await
}

#[tokio::test]
async fn a_request_has_rules_and_limits_and_returns_the_answer() {
    let fake = FakeServer::start([Reply::says("\n<think>hm {</think>\n\n Hi! \n")]);
    let model = model(&fake);
    assert_eq!(model.complete(HELLO, Priority::Change, LIMITS).await.unwrap(), "Hi!");
    assert_eq!((model.model(), model.is_paused()), ("tiny", false));
    let seen = &fake.seen()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.headers.get("authorization").map(String::as_str), Some("Bearer sk-secret"));
    let messages = json!([{ "role": "system", "content": "be brief" }, { "role": "user", "content": "hello" }]);
    assert_eq!(seen.body, json!({ "model": "tiny", "messages": messages, "stream": false, "max_tokens": 500 }));
}

/// The answer quotes the marker of a thought in its JSON. Removing thoughts from it would cut the JSON in two.
#[tokio::test]
async fn a_counted_answer_is_returned_unchanged() {
    let came = "\n<think>hm</think> {\"body\": \"Close with </think>.\"} \n";
    let model = model(&FakeServer::start([Reply::says(came), Reply::says(" \n")]));
    let (answer, _) = model.complete_counted(HELLO, Priority::Change, LIMITS).await.unwrap();
    assert_eq!(answer, came);
    let blank = model.complete_counted(HELLO, Priority::Change, LIMITS).await.unwrap_err();
    assert!(matches!(blank, ChatError::Empty), "{blank}");
}

#[tokio::test]
async fn the_newer_token_limit_is_sent_if_the_server_requires_it() {
    let refusal =
        r#"{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}"#;
    let fake = FakeServer::start([Reply::Status(400, "", refusal), Reply::says("Hi!")]);
    let model = model(&fake);
    for _ in 0..2 {
        assert_eq!(model.complete(HELLO, Priority::Change, LIMITS).await.unwrap(), "Hi!");
    }
    let newer: Vec<_> = fake.seen().iter().map(|seen| seen.body["max_completion_tokens"].as_u64()).collect();
    assert_eq!(newer, [None, Some(500), Some(500)], "found out once");
    assert!(fake.seen()[1].body.get("max_tokens").is_none());
}

#[tokio::test]
async fn unusable_answers_are_named_in_the_error() {
    let choice = |choice: &str| Reply::body(&format!(r#"{{"choices":[{choice}]}}"#));
    for (reply, complaint) in [
        (Reply::body("garbage"), "no JSON at line 1 column 1"),
        (Reply::body("{\"choices\": [{\"mess"), "JSON that breaks off"),
        (Reply::body("{}"), "JSON of another form"),
        (choice(""), "it has no choices"),
        (choice(r#"{"message":{"content":"I think th"},"finish_reason":"length"}"#), "cut off"),
        (choice(r#"{"message":{"content":null}}"#), "empty"),
        (choice(r#"{"message":{"refusal":"no"},"finish_reason":"stop"}"#), "empty"),
        (Reply::says("<think>and so on and on"), "empty"),
        (Reply::says(&"x".repeat(101)), "too long"),
        (Reply::Huge, "more than 1048576 bytes"),
        (Reply::Status(400, "", "context length"), "400: Bad Request"),
        (Reply::Status(302, "Location: http://elsewhere/\r\n", ""), "302"),
    ] {
        let error = outcome(reply).await.unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains(complaint), "{complaint}: {error}");
    }
    for reply in [Reply::Status(429, "", ""), Reply::Status(500, "", ""), Reply::Half, Reply::Close] {
        assert!(outcome(reply).await.unwrap_err().is_transient());
    }
    let public = Error::from(outcome(Reply::Status(401, "", "sk-secret")).await.unwrap_err());
    assert!(matches!(&public, Error::Unavailable(text) if !text.contains("401")), "{public}");
}

/// One user's texts must not pause the model, which all users share.
#[tokio::test]
async fn answers_that_exceed_the_token_limit_do_not_pause_the_model() {
    let rambles = r#"{"choices":[{"message":{"content":"and so"},"finish_reason":"length"}]}"#;
    let fake = FakeServer::start([Reply::body(rambles)]);
    let model = model(&fake);
    for _ in 0..9 {
        let error = model.complete(HELLO, Priority::Change, LIMITS).await.unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains("cut off"), "{error}");
    }
    assert_eq!((fake.seen().len(), model.is_paused()), (9, false), "asked each time, and never again for the same");
}

#[tokio::test]
async fn the_time_limit_applies_to_all_attempts_together() {
    for reply in [Reply::Hang, Reply::Status(500, "Retry-After: 5\r\n", "")] {
        let fake = FakeServer::start([reply]);
        let model = ChatModel::new(RemoteSettings { timeout: Duration::from_secs(3600), ..settings(&fake) }).unwrap();
        let limits = ChatLimits { total: Duration::from_millis(50), ..LIMITS };
        let error = model.complete(HELLO, Priority::Change, limits).await.unwrap_err();
        assert!(error.is_transient() && error.to_string().contains("deadline"), "{error}");
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Plan {
    title: String,
    #[serde(default)]
    steps: Vec<String>,
}

#[test]
fn json_is_found_within_any_surrounding_text() {
    let plan = Plan { title: "a".into(), steps: vec!["b".into()] };
    for answer in [
        r#"{"title":"a","steps":["b"]}"#,
        "```json\n{\"title\":\"a\",\n \"steps\":[\"b\"]}\n```",
        "```\n{\"title\":\"a\",\"steps\":[\"b\"]}\n```\nThat is my plan {as asked}.",
        "Sure! Here [as {asked}] it is: {\"title\":\"a\",\"steps\":[\"b\"]}",
        "<think>{\"title\":\"draft\"}</think>{\"title\":\"a\",\"steps\":[\"b\"]}",
        "{\"title\":\"draft\"}</think>\n{\"title\":\"a\",\"steps\":[\"b\"]} <|end|>",
        "\u{feff}{\"steps\":[\"b\"],\"title\":\"a\",\"more\":{\"title\":\"x\"}}",
    ] {
        assert_eq!(read_json_answer::<Plan>(answer).unwrap(), plan, "{answer}");
    }
    assert_eq!(read_json_answer::<Vec<u8>>("[see] the list: [1, 2]").unwrap(), [1, 2]);
}

#[test]
fn an_answer_without_the_expected_json_is_rejected() {
    let deep = "[".repeat(100_000);
    for (answer, complaint) in [
        ("", "there is no JSON"),
        ("I cannot do that.", "there is no JSON"),
        ("{\"title\":\"a\",\"steps\":[\"b\"", "JSON that breaks off"),
        ("{\"steps\":[]}", "JSON of another form at line 1 column 12"),
        ("{\"title\":7}", "another form"),
        ("{\"title\":\"a\",\"steps\":\"my secret\"}", "another form at line 1 column 32"),
        ("<think>{\"title\":\"a\"}", "there is no JSON"),
        (deep.as_str(), "another form"),
    ] {
        let error = read_json_answer::<Plan>(answer).unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains(complaint), "{answer:.20}: {error}");
    }
}

#[test]
fn an_answer_with_several_different_objects_is_rejected() {
    let one = "{\"title\":\"a\",\"steps\":[\"b\"]}";
    let other = "{\"title\":\"no\",\"steps\":[\"b\"]}";
    for answer in
        [one.to_owned(), format!("It is {one}."), format!("{one} Again: {one}"), format!("```json\n{one}\n```")]
    {
        assert_eq!(read_only_json_answer::<Plan>(&answer).unwrap().title, "a", "{answer}");
    }
    let many = "{".repeat(30);
    for answer in [
        format!("{one}{other}"),
        format!("{other} {one}"),
        format!("{{\"title\":\"no\"}} {one}"),
        format!("see {{x}} {one} and {{\"a\": 1}}"),
        format!("{one}{many}{other}"),
        format!("[\"a\", [\"b\"]] {{\"quoted\": {one}}}"),
    ] {
        let error = read_only_json_answer::<Plan>(&answer).unwrap_err().to_string();
        assert!(
            ["several different", "too many braces", "another form"].iter().any(|why| error.contains(why)),
            "{answer}: {error}"
        );
    }
}

#[test]
fn thoughts_are_removed() {
    for (answer, rest) in [
        ("a", "a"),
        ("<think>a</think> b", "b"),
        ("a</think>b</think>c", "c"),
        ("<think>a", ""),
        ("write <think> in the prompt", "write <think> in the prompt"),
    ] {
        assert_eq!(without_thoughts(answer), rest);
    }
}
