//! Counts the round trips of warm reads on the wire, and asserts that callers' transactions use generic plans.
//! `flights.rs` counts the round trips of writes.

use knowhow_testing::Wire;

use super::pools::behind;
use crate::callers::World;
use crate::service::login_url;

/// Tries of each read. The first ones prepare statements, and sometimes the service sends statements of its own.
const TRIES: usize = 40;

async fn assert_one_round_trip(wire: &Wire, what: &str, mut ask: impl AsyncFnMut()) {
    let mut counts = Vec::new();
    for _ in 0..TRIES {
        counts.push(wire.count(ask()).await.0);
    }
    // A read that shares the round trip of the service's own statement counts as none.
    let least = counts.iter().filter(|count| **count > 0).min();
    assert_eq!(least, Some(&1), "{what}: {counts:?}");
}

#[tokio::test]
async fn a_warm_read_takes_one_round_trip() {
    let world = World::new().await;
    let wire = Wire::to(&login_url());
    let service = behind(&wire);
    let alice = &world.alice.at(&service);
    alice.create_all(&["plan-meeting", "plan-dinner"]).await;
    for path in ["/v1/skills", "/v1/skills/plan-meeting", "/v1/snapshot"] {
        assert_one_round_trip(&wire, path, async || {
            alice.get(path).await.ok(200);
        })
        .await;
    }
    let path = "/v1/skills/plan-meeting/SKILL.md";
    let tag = alice.get(path).await.header("etag").to_owned();
    assert_one_round_trip(&wire, "a file that the caller has", async || {
        let again = alice.get(path).header("If-None-Match", &tag).await;
        assert_eq!(again.status, 304);
    })
    .await;
}

#[tokio::test]
async fn transactions_of_callers_use_generic_plans() {
    let world = World::new().await;
    let plans = "plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off";
    let wire = Wire::watching(&login_url(), plans);
    let service = behind(&wire);
    let alice = &world.alice.at(&service);
    alice.get("/v1/skills").await.ok(200);
    let of_reads = wire.seen();
    alice.create_all(&["plan-meeting"]).await;
    assert!(of_reads > 0 && wire.seen() > of_reads, "{of_reads} of reads, {} with those of writes", wire.seen());
}
