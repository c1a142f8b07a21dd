//! Parts of a session's log other than turns: the agent's replies, and feedback.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::World;
use crate::sql;
use crate::talk::Talk;

#[tokio::test]
async fn messages_of_user_and_agent_are_logged() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    talk.say("What is up?").await;
    assert_eq!(
        talk.tell("/reply", json!({"message": "Not \u{1F600} much.", "tool_calls": 3})).await,
        json!({"turn": 1})
    );
    talk.turn(json!({"message": "Go on.", "tool_calls": 2})).await.ok(200);
    assert_eq!(talk.tell("/reply", json!({"message": "Done."})).await, json!({"turn": 2}));
    let log = alice.get(&talk.path("/messages")).await.ok(200);
    let brief = |item: &Value| json!([item["turn"], item["speaker"], item["text"], item["tool_calls"]]);
    let said: Vec<Value> = log["items"].as_array().unwrap().iter().map(brief).collect();
    assert_eq!(
        said,
        [
            json!([1, "user", "What is up?", 0]),
            json!([1, "agent", "Not \u{1F600} much.", 3]),
            json!([2, "user", "Go on.", 2]),
            json!([2, "agent", "Done.", 0]),
        ]
    );
    assert_eq!(members(&log["items"][0]), ["at", "id", "speaker", "text", "tool_calls", "turn"]);
    assert_eq!(talk.read().await["last_message_at"], log["items"][3]["at"]);
    let mut read = Vec::new();
    let mut path = talk.path("/messages?limit=3");
    loop {
        let page = alice.get(&path).await.ok(200);
        read.extend(page["items"].as_array().unwrap().clone());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = talk.path(&format!("/messages?limit=3&cursor={cursor}"));
    }
    assert_eq!(json!(read), log["items"]);
}

#[tokio::test]
async fn malformed_replies_are_rejected() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    let reply = |body: Value| alice.post(&talk.path("/reply"), body);
    reply(json!({"message": ""})).await.invalid("/message", "empty");
    reply(json!({"message": "a\0b"})).await.invalid("/message", "NUL");
    reply(json!({"message": "x".repeat(65_537)})).await.refused(413, "too-large");
    reply(json!({"message": "x", "tool_calls": 2_147_483_648_u32})).await.invalid("/tool_calls", "");
    for wrong in
        [json!({}), json!({"message": 7}), json!({"message": "x", "tool_calls": -1}), json!({"message": "x", "y": 1})]
    {
        reply(wrong).await.refused(422, "invalid");
    }
    for query in ["limit=0", "limit=201", "limit=x", "cursor=x", "cursor=%00", "more=1"] {
        alice.get(&talk.path(&format!("/messages?{query}"))).await.refused(400, "malformed");
    }
    assert_eq!(alice.get(&talk.path("/messages")).await.ok(200)["items"], json!([]));
    // The agent may send the first message, before any turn.
    assert_eq!(reply(json!({"message": "x".repeat(65_536)})).await.ok(200), json!({"turn": 0}));
}

/// A retry with the same key has no second effect and returns the same answer.
#[tokio::test]
async fn a_reply_or_feedback_sent_twice_is_stored_once() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    talk.say("hello").await;
    let replies = (0..10).map(|_| {
        alice.post(&talk.path("/reply"), json!({"message": "Yes?"})).header("Idempotency-Key", "r1").into_future()
    });
    for answer in join_all(replies).await {
        assert_eq!(answer.ok(200), json!({"turn": 1}));
    }
    let other = alice.post(&talk.path("/reply"), json!({"message": "No?"})).header("Idempotency-Key", "r1").await;
    other.refused(422, "idempotency-mismatch");
    let log = alice.get(&talk.path("/messages")).await.ok(200);
    assert_eq!(pluck(&log["items"], "text"), ["hello", "Yes?"]);
    for _ in 0..3 {
        let body = json!({"kind": "thumbs_up"});
        alice.post(&talk.path("/feedback"), body).header("Idempotency-Key", "f1").await.ok(200);
    }
    assert_eq!(judgements(&talk), 1);
    let bad = alice.post(&talk.path("/reply"), json!({"message": "x"})).header("Idempotency-Key", "a b").await;
    bad.refused(400, "malformed");
}

fn judgements(talk: &Talk) -> u64 {
    sql::execute(&format!("update session_feedback set turn = turn where session_id = '{}'", talk.id))
}

#[tokio::test]
async fn a_session_gets_feedback_and_a_quality() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::long(alice).await;
    let judge = async |body: Value| talk.tell("/feedback", body).await;
    for kind in ["correction", "thumbs_up", "thumbs_down"] {
        assert_eq!(judge(json!({"kind": kind})).await["quality"], Value::Null);
    }
    judge(json!({"kind": "correction", "value": "step 3", "note": "Ask\nfirst.\t"})).await;
    for quality in ["good", "fair", "poor"] {
        assert_eq!(
            judge(json!({"kind": "quality", "value": quality, "note": "n".repeat(4000)})).await["quality"],
            quality
        );
    }
    assert_eq!(judge(json!({"kind": "thumbs_up"})).await["quality"], "poor");
    talk.tell("/end", json!({})).await;
    assert_eq!(judge(json!({"kind": "quality", "value": "good"})).await["quality"], "good");
    assert_eq!(judgements(&talk), 9);
    let refuse = |body: Value| alice.post(&talk.path("/feedback"), body);
    for value in [json!("great"), json!("Good"), json!(""), Value::Null] {
        refuse(json!({"kind": "quality", "value": value})).await.invalid("/value", "good, fair or poor");
    }
    refuse(json!({"kind": "thumbs_up", "value": "v".repeat(256)})).await.invalid("/value", "255");
    refuse(json!({"kind": "thumbs_up", "note": "n".repeat(4001)})).await.invalid("/note", "4000");
    refuse(json!({"kind": "thumbs_up", "note": "a\0b"})).await.invalid("/note", "control");
    for wrong in [json!({}), json!({"kind": "applause"}), json!({"kind": "correction", "value": 7})] {
        refuse(wrong).await.refused(422, "invalid");
    }
    assert_eq!((talk.read().await["quality"].clone(), judgements(&talk)), (json!("good"), 9));
}
