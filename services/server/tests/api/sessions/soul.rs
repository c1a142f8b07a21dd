//! The soul: a text with versions, and concurrent updates of it.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{Caller, World};
use crate::service::keeper;

fn put(who: &Caller, text: &str) -> crate::callers::Sending {
    who.put("/v1/soul", json!({"text": text}))
}

#[tokio::test]
async fn a_soul_is_stored_in_versions() {
    let World { alice, bob, .. } = &World::new().await;
    let none = alice.get("/v1/soul").await;
    assert_eq!((none.ok(200), none.header("etag")), (json!({"text": "", "version": 0, "tainted": false}), "\"0\""));
    let first = put(alice, "Be \u{1F600} brief.\n").await;
    assert_eq!(first.header("etag"), "\"1\"");
    let first = first.ok(200);
    assert_eq!(members(&first), ["tainted", "text", "updated_at", "updated_by", "version"]);
    assert_eq!((&first["text"], &first["version"]), (&json!("Be \u{1F600} brief.\n"), &json!(1)));
    assert_eq!(put(alice, "Be \u{1F600} brief.\n").await.ok(200), first);
    let second = put(&alice.at(keeper()), "Be long.").await.ok(200);
    assert_eq!(second["version"], 2);
    assert_eq!(put(alice, "").await.ok(200)["version"], 3);
    assert_eq!(put(alice, "Be long.").await.ok(200)["version"], 4);
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "Be long.");
    let versions = alice.get("/v1/soul/versions").await.ok(200);
    assert_eq!(pluck(&versions["items"], "version"), ["4", "3", "2", "1"]);
    assert_eq!((&versions["items"][2], &versions["items"][3]), (&second, &first));
    let page = alice.get("/v1/soul/versions?limit=3").await.ok(200);
    let next = format!("/v1/soul/versions?limit=3&cursor={}", page["next_cursor"].as_str().unwrap());
    assert_eq!(alice.get(&next).await.ok(200), json!({"items": [first], "next_cursor": null}));
    assert_eq!(bob.get("/v1/soul").await.ok(200)["version"], 0);
    assert_eq!(bob.get("/v1/soul/versions").await.ok(200)["items"], json!([]));
    for bad in ["limit=0", "limit=201", "cursor=x", "cursor=Ii0xIg"] {
        alice.get(&format!("/v1/soul/versions?{bad}")).await.refused(400, "malformed");
    }
}

#[tokio::test]
async fn no_update_is_lost() {
    let World { alice, .. } = &World::new().await;
    let on = |text: &str, base: i32| alice.put("/v1/soul", json!({"text": text, "expected_version": base}));
    let matched = |text: &str, base: &str| put(alice, text).header("If-Match", base);
    assert_eq!(on("one", 1).await.refused(409, "version-conflict")["current_version"], 0);
    assert_eq!(on("one", 0).await.ok(200)["version"], 1);
    assert_eq!(matched("two", "\"1\"").await.ok(200)["version"], 2);
    assert_eq!(on("three", 1).await.refused(409, "version-conflict")["current_version"], 2);
    assert_eq!(matched("three", "\"1\"").await.refused(412, "version-conflict")["current_version"], 2);
    // A retry after a lost answer succeeds, because the text is already stored.
    assert_eq!(on("two", 1).await.ok(200)["version"], 2);
    assert_eq!(matched("two", "\"1\"").await.ok(200)["version"], 2);
    for bad in ["1", "\"x\"", "*", "\"1\", \"2\""] {
        matched("x", bad).await.refused(400, "malformed");
    }
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "two");
}

#[tokio::test]
async fn sixteen_concurrent_writes_make_sixteen_versions() {
    let World { alice, .. } = &World::new().await;
    let elsewhere = alice.at(keeper());
    let who = |n: usize| if n.is_multiple_of(2) { alice } else { &elsewhere };
    let answers = join_all((0..16).map(|n| put(who(n), &format!("text {n}")).into_future())).await;
    let mut versions = Vec::new();
    for (n, answer) in answers.iter().enumerate() {
        let written = answer.ok(200);
        // Each answer has its own version, even if another write followed.
        assert_eq!(written["text"], format!("text {n}"));
        versions.push(written["version"].as_i64().unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=16).collect::<Vec<i64>>());
    let based =
        join_all((0..16).map(|n| put(who(n), &format!("new {n}")).header("If-Match", "\"16\"").into_future())).await;
    let (written, refused): (Vec<_>, Vec<_>) = based.iter().partition(|answer| answer.status == 200);
    assert_eq!((written.len(), refused.len()), (1, 15));
    assert!(refused.iter().all(|answer| answer.refused(412, "version-conflict")["current_version"] == 17));
    let same = join_all((0..16).map(|n| put(who(n), "same").into_future())).await;
    assert!(same.iter().all(|answer| answer.ok(200)["version"] == 18));
}

#[tokio::test]
async fn a_retry_has_no_second_effect() {
    let World { alice, .. } = &World::new().await;
    let send = |text: &str| put(alice, text).header("Idempotency-Key", "k");
    let first = send("one").await.ok(200);
    put(alice, "two").await.ok(200);
    assert_eq!(send("one").await.ok(200), first);
    send("three").await.refused(422, "idempotency-mismatch");
    assert_eq!(alice.get("/v1/soul").await.ok(200)["text"], "two");
}

#[tokio::test]
async fn malformed_souls_are_rejected() {
    let World { alice, .. } = &World::new().await;
    put(alice, &"x".repeat(8_001)).await.invalid("/text", "8000");
    put(alice, "a\0b").await.invalid("/text", "NUL");
    for wrong in
        [json!({}), json!({"text": null}), json!({"text": "x", "expected_version": "1"}), json!({"text": "x", "y": 1})]
    {
        alice.put("/v1/soul", wrong).await.refused(422, "invalid");
    }
    let lone = alice.send(Method::PUT, "/v1/soul").body("application/json", r#"{"text": "\ud800"}"#).await;
    lone.refused(400, "malformed");
    for version in [-1, i32::MAX] {
        let body = json!({"text": "x", "expected_version": version});
        alice.put("/v1/soul", body).await.refused(409, "version-conflict");
    }
    assert_eq!(alice.get("/v1/soul").await.ok(200)["version"], 0);
    let most = "\u{1F600}".repeat(8_000);
    assert_eq!(put(alice, &most).await.ok(200)["text"], Value::from(most));
}
