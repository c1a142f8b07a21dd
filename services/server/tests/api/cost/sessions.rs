//! Sessions that begin all the time, as many as can be, and the snapshots that they begin with.

use knowhow_domain::index::BUDGET_STEPS;
use serde_json::json;

use super::neighbour::hold_beside;
use super::recall::{fill, world};
use crate::callers::skill;
use crate::service::Service;

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn a_neighbour_feels_no_sessions_as_many_as_can_be() {
    let service = Service::start(&[]);
    let world = world(&service).await;
    world.alice.create(skill("chore")).await;
    let alice = world.alice.clone();
    hold_beside(&service, "sessions as many as can be", move |_| alice.post("/v1/sessions", json!({}))).await;
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn a_neighbour_feels_no_snapshots_of_5000_skills() {
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
