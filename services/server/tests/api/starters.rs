//! Built-in skills: given at first sight, never forced.

use serde_json::json;

use crate::callers::{World, skill};

const STARTERS: [&str; 5] =
    ["failure-patterns", "iterative-planning", "mcp-tool-guide", "memory-systems", "skills-and-rules"];

#[tokio::test]
async fn every_user_is_given_them_once() {
    let world = World::with(json!({})).await;
    let World { alice, bob, read_only, .. } = &world;
    let firsts = futures_util::future::join_all((0..10).map(|_| read_only.names())).await;
    assert!(firsts.iter().all(|names| names == &STARTERS), "{firsts:?}");
    let loaded = alice.get("/v1/skills/failure-patterns").await.ok(200);
    assert_eq!((&loaded["source"], &loaded["version"]), (&json!("starter"), &json!(1)));
    assert_eq!(alice.get("/v1/skills/failure-patterns/versions").await.ok(200)["items"][0]["change"], "sync");
    alice.delete("/v1/skills/failure-patterns").await.empty(204);
    assert_eq!(alice.names().await, STARTERS[1..]);
    assert_eq!(bob.names().await, STARTERS);
}

#[tokio::test]
async fn a_deleted_one_does_not_come_back() {
    let world = World::with(json!({})).await;
    world.alice.delete("/v1/skills/failure-patterns").await.empty(204);
    let elsewhere = crate::service::Service::start(&[("KNOWHOW_WORKERS", "1")]);
    assert_eq!(world.alice.at(&elsewhere).names().await, STARTERS[1..]);
}

#[tokio::test]
async fn a_tenant_may_do_without() {
    assert!(World::new().await.alice.names().await.is_empty());
}

#[tokio::test]
async fn they_do_not_count_against_a_quota() {
    let world = World::with(json!({"skills_per_user": 1})).await;
    assert_eq!(world.alice.names().await, STARTERS);
    world.alice.post("/v1/skills", skill("mine")).await.refused(429, "quota-exceeded");
}
