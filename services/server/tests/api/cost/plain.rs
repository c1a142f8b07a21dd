//! Cost of the simplest requests, which also measures the harness itself.

use super::neighbour::hold_beside;
use super::recall::{fill, world};
use super::{at_most, cpu_of, peak_mib, resident_mib};
use crate::callers::{World, skill};
use crate::service::{Service, keeper};

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn plain_requests_cost_little() {
    let service = Service::start(&[]);
    let World { alice, .. } = &World::at(&service, keeper(), serde_json::json!({"starter_skills": false})).await;
    alice.create(skill("p")).await;
    let (_, spent) = cpu_of(&service, "100 loads", async {
        for _ in 0..100 {
            alice.get("/v1/skills/p").await.ok(200);
        }
    })
    .await;
    at_most(spent, 250);
    assert!(resident_mib(&service) <= peak_mib(&service));
}

/// Probes cost nearly nothing, so this test measures the effect of the harness on the neighbour.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn probes_do_not_slow_a_neighbour() {
    let service = Service::start(&[]);
    let world = World::at(&service, keeper(), serde_json::json!({"starter_skills": false})).await;
    let anonymous = world.anonymous.clone();
    hold_beside(&service, "probes", move |_| anonymous.get("/healthz")).await;
}

/// Measures the effect of sixteen connections with the simplest query, for comparison with more expensive requests.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn small_lists_of_one_user_do_not_slow_a_neighbour() {
    let service = Service::start(&[]);
    let world = World::at(&service, keeper(), serde_json::json!({"starter_skills": false})).await;
    world.alice.create(skill("p")).await;
    let alice = world.alice.clone();
    hold_beside(&service, "lists of one skill", move |_| alice.get("/v1/skills?limit=1")).await;
}

/// Measures the effect of the largest pages of a list.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn large_lists_of_one_user_do_not_slow_a_neighbour() {
    let service = Service::start(&[]);
    let world = world(&service).await;
    fill(&world.alice, 1_000, 20).await;
    let alice = world.alice.clone();
    hold_beside(&service, "lists of 200 skills", move |_| alice.get("/v1/skills?limit=200")).await;
}
