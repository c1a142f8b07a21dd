//! Database connections: their number, sharing by users, and lost connections.

use std::time::Duration;

use futures_util::future::join_all;
use knowhow_testing::Wire;
use serde_json::json;

use crate::callers::{Caller, World, skill};
use crate::service::{Service, login_url, poll_async};

/// Starts a service that reaches its database through `wire`.
pub fn behind(wire: &Wire) -> Service {
    Service::start(&[
        ("KNOWHOW_DATABASE_URL", &wire.url),
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "1000"),
    ])
}

/// Without its database the service answers 503 with `Retry-After`. When the database is back, the service recovers.
#[tokio::test]
async fn a_cut_connection_is_reported_and_recovers() {
    let world = World::new().await;
    let wire = Wire::to(&login_url());
    let service = behind(&wire);
    let alice = world.alice.at(&service);
    alice.create_all(&["before"]).await;
    for round in 0..3 {
        wire.cut();
        for answer in [alice.get("/v1/skills").await, alice.post("/v1/skills", skill("meanwhile")).await] {
            answer.refused(503, "unavailable");
            assert!(answer.header("retry-after").parse::<u32>().is_ok());
        }
        let is_unready = async || (alice.get("/readyz").await.status == 503).then_some(());
        poll_async("the service not to be ready", is_unready).await;
        alice.get("/healthz").await.ok(200);
        wire.mend();
        poll_async("the service to be ready", async || (alice.get("/readyz").await.status == 200).then_some(())).await;
        poll_async("reads to heal", async || (alice.get("/v1/skills").await.status == 200).then_some(())).await;
        alice.replace("before", "then", &format!("and {round} then")).await.ok(200);
    }
    assert_eq!(world.alice.names().await, ["before"]);
    assert_eq!(world.alice.peek("before").await["version"], 4);
}

/// If no server listens, readiness and writes fail early. They do not wait as long as for a busy connection.
#[tokio::test]
async fn a_missing_database_is_reported_before_probes_time_out() {
    let world = World::new().await;
    let wire = Wire::to(&login_url());
    let service = Service::start(&[
        ("KNOWHOW_DATABASE_URL", &wire.url),
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "600000"),
        ("KNOWHOW_STATEMENT_TIMEOUT_MS", "600000"),
    ]);
    let alice = world.alice.at(&service);
    alice.create_all(&["before"]).await;
    wire.remove();
    // Each answer comes before the test times out, far below the ten minutes for a busy pool.
    poll_async("the service not to be ready", async || (alice.get("/readyz").await.status == 503).then_some(())).await;
    for answer in [alice.post("/v1/skills", skill("meanwhile")).await, alice.get("/v1/skills").await] {
        answer.refused(503, "unavailable");
        assert!(answer.header("retry-after").parse::<u32>().is_ok());
    }
}

/// With more writers than connections, each write succeeds completely or is refused without effect.
#[tokio::test]
async fn too_many_writers_are_served_or_refused() {
    let world = World::new().await;
    let service = Service::start(&[
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_WRITE_CONNECTIONS", "1"),
        ("KNOWHOW_READ_CONNECTIONS", "1"),
        ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "500"),
    ]);
    let alice = &world.alice.at(&service);
    alice.create_all(&["first"]).await;
    let saves = (0..190).map(|n| async move {
        let name = format!("s{n:03}");
        (alice.post("/v1/skills", skill(&name)).await, name)
    });
    let mut served = vec!["first".to_owned()];
    for (answer, name) in join_all(saves).await {
        match answer.status {
            201 => served.push(name),
            // The request waited for too long in its user's queue.
            429 => drop(answer.refused(429, "rate-limited")),
            _ => drop(answer.refused(503, "unavailable")),
        }
    }
    served.sort();
    assert_eq!(world.alice.names().await, served);
    alice.create_all(&["last"]).await;
}

/// Two users share one connection, with successful, failed and aborted requests. Neither user sees the other's data.
#[tokio::test]
async fn users_who_share_a_connection_do_not_see_each_others_data() {
    let world = World::new().await;
    let service = Service::start(&[
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_WRITE_CONNECTIONS", "1"),
        ("KNOWHOW_READ_CONNECTIONS", "1"),
    ]);
    let (alice, bob) = (world.alice.at(&service), world.bob.at(&service));
    for (caller, whose) in [(&alice, "alice"), (&bob, "bob")] {
        let mut body = skill("diary");
        body["content"] = json!(format!("# Of {whose}\n"));
        caller.create(body).await;
    }
    let lanes = (0..10).map(|lane| {
        let (caller, whose) = if lane % 2 == 0 { (&alice, "alice") } else { (&bob, "bob") };
        take_turns(caller, whose, lane)
    });
    join_all(lanes).await;
    assert_eq!((alice.names().await, bob.names().await), (vec!["diary".to_owned()], vec!["diary".to_owned()]));
    assert_eq!(alice.peek("diary").await["content"], "# Of alice\n");
    assert_eq!(bob.peek("diary").await["content"], "# Of bob\n");
}

async fn take_turns(caller: &Caller, whose: &str, lane: u64) {
    for round in 0..100_u64 {
        match round % 5 {
            0 => drop(caller.get("/v1/skills/none").await.refused(404, "not-found")),
            1 => drop(caller.replace("diary", "no such words", "x").await.refused(422, "patch-no-match")),
            2 => hang_up(caller, lane * 131 + round * 37).await,
            _ => {
                let loaded = caller.get("/v1/skills/diary").await.ok(200);
                assert_eq!(loaded["content"], format!("# Of {whose}\n"));
            }
        }
    }
}

/// Sends a write without effect and aborts the request after at most 4 ms.
async fn hang_up(caller: &Caller, moment: u64) {
    let write = caller.post("/v1/skills/diary/rollback", json!({"version": 1})).attempt();
    drop(tokio::time::timeout(Duration::from_micros(moment % 4000), write).await);
}
