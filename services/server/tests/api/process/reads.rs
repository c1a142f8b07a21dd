//! How many round trips to Postgres a warm read takes, counted on the wire; `flights.rs` counts those of writes.

use knowhow_testing::Wire;

use super::pools::behind;
use crate::callers::World;
use crate::service::login_url;

/// How often each is tried: the first ones prepare statements, and the service does something of its own now and then.
const TRIES: usize = 12;

async fn assert_one_round_trip(wire: &Wire, what: &str, mut ask: impl AsyncFnMut()) {
    let mut least = usize::MAX;
    for _ in 0..TRIES {
        least = least.min(wire.count(ask()).await.0);
    }
    assert_eq!(least, 1, "{what}");
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
