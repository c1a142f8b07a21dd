//! Cost of sessions that are opened continuously, and of their snapshots.

use knowhow_domain::skills::index::BUDGET_STEPS;
use serde_json::json;

use super::neighbour::hold_beside;
use super::recall::{fill, world};
use crate::callers::skill;
use crate::service::Service;

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn opening_sessions_continuously_does_not_slow_a_neighbour() {
    let service = Service::start(&[]);
    let world = world(&service).await;
    world.alice.create(skill("chore")).await;
    let alice = world.alice.clone();
    hold_beside(&service, "sessions as many as can be", move |_| alice.post("/v1/sessions", json!({}))).await;
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn snapshots_of_5000_skills_do_not_slow_a_neighbour() {
    let service = Service::start(&[]);
    let world = world(&service).await;
    fill(&world.alice, 5_000, 20).await;
    let alice = world.alice.clone();
    hold_beside(&service, "snapshots of 5,000 skills", move |n| match n % 3 {
        0 => alice.post("/v1/snapshot/refresh", json!({})),
        _ => alice.post("/v1/sessions", json!({"index_budget": BUDGET_STEPS[n % BUDGET_STEPS.len()]})),
    })
    .await;
}
