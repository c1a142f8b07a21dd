//! Idempotency keys: one key, one effect, one answer.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{Sending, World, skill};

#[tokio::test]
async fn fifty_concurrent_repetitions_have_one_effect() {
    let World { alice, .. } = &World::new().await;
    let sent = (0..50).map(|_| alice.post("/v1/skills", skill("once")).header("Idempotency-Key", "k1").into_future());
    let answers = join_all(sent).await;
    let first = answers[0].ok(201);
    assert!(answers.iter().all(|answer| answer.ok(201) == first));
    assert_eq!(alice.get("/v1/skills/once/versions").await.ok(200)["items"].as_array().unwrap().len(), 1);
    let other = alice.post("/v1/skills", skill("other")).header("Idempotency-Key", "k1").await;
    other.refused(422, "idempotency-mismatch");
    alice
        .post("/v1/skills?create_only=true", skill("once"))
        .header("Idempotency-Key", "k1")
        .await
        .refused(422, "idempotency-mismatch");
    assert_eq!(alice.names().await, ["once"]);
}

#[tokio::test]
async fn idempotency_keys_are_separate_for_each_user() {
    let world = World::new().await;
    for caller in [&world.alice, &world.bob, &world.other_tenant().await] {
        caller.post("/v1/skills", skill("mine")).header("Idempotency-Key", "same").await.ok(201);
    }
}

#[tokio::test]
async fn a_refused_request_does_not_use_up_its_key() {
    let World { alice, .. } = &World::new().await;
    alice.replace("late", "First", "Last").header("Idempotency-Key", "k").await.refused(404, "not-found");
    alice.create_all(&["late"]).await;
    alice.replace("late", "First", "Last").header("Idempotency-Key", "k").await.ok(200);
}

#[tokio::test]
async fn every_repeated_write_gets_the_same_answer() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/p", "mcp/q", "mcp/r"]).await;
    let patch = json!({"edits": [{"old_string": "First", "new_string": "Last"}]});
    let writes: [(Method, &str, Option<Value>); 8] = [
        (Method::PATCH, "/v1/skills/p", Some(patch)),
        (Method::PUT, "/v1/skills/p/fields", Some(json!({"tags": ["x"], "pinned": true}))),
        (Method::PUT, "/v1/skills/p/resources/references/a.md", Some(json!("x"))),
        (Method::DELETE, "/v1/skills/p/resources/references/a.md", None),
        (Method::POST, "/v1/skills/p/rollback", Some(json!({"version": 1}))),
        (Method::POST, "/v1/skills/used", Some(json!({"skill": "p"}))),
        (Method::DELETE, "/v1/skills/mcp%2Fq", Some(json!({"absorbed_into": "p"}))),
        (Method::DELETE, "/v1/skills/mcp%2Fr", None),
    ];
    for (number, (method, path, body)) in writes.into_iter().enumerate() {
        let send = || {
            let sending = alice.send(method.clone(), path).header("Idempotency-Key", &format!("k{number}"));
            body.iter().fold(sending, Sending::json)
        };
        let (first, second) = (send().await, send().await);
        assert!((200..300).contains(&first.status), "{first}");
        assert_eq!(
            (first.status, &first.body, first.headers.get("etag")),
            (second.status, &second.body, second.headers.get("etag")),
            "{second}"
        );
    }
    assert_eq!(alice.peek("mcp/p").await["version"], 6);
}

#[tokio::test]
async fn a_key_must_be_visible_ascii() {
    let World { alice, .. } = &World::new().await;
    let long = "k".repeat(256);
    for bad in ["", "a b", &long, "k\u{e9}y"] {
        alice.post("/v1/skills", skill("x")).header("Idempotency-Key", bad).await.refused(400, "malformed");
    }
    let twice =
        alice.post("/v1/skills", skill("x")).header("Idempotency-Key", "a").header("Idempotency-Key", "b").await;
    twice.refused(400, "malformed");
    alice.post("/v1/skills", skill("x")).header("Idempotency-Key", &"k".repeat(255)).await.ok(201);
}

/// A repeated request returns the first answer, even if it would have another result now.
#[tokio::test]
async fn a_repeated_delete_is_answered_after_its_successor_is_gone() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["old", "new"]).await;
    let delete =
        || alice.delete("/v1/skills/old").json(&json!({"absorbed_into": "new"})).header("Idempotency-Key", "k");
    delete().await.empty(204);
    alice.delete("/v1/skills/new").await.empty(204);
    delete().await.empty(204);
    alice.create_all(&["old"]).await;
    delete().await.empty(204);
    assert_eq!(alice.names().await, ["old"]);
}
