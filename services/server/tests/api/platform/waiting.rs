//! Limits of waiting for the database: if it does not answer, if a table is locked, and in the queue of a user.

use std::future::IntoFuture;
use std::thread;

use futures_util::future::join_all;
use knowhow_testing::Wire;
use serde_json::json;

use crate::answers::Answer;
use crate::callers::{Caller, skill};
use crate::service::{Service, poll, poll_async};
use crate::sql::execute_at;
use crate::worker::{Ground, world};

/// Returns requests that use the pipeline, transactions, or both.
fn all_ways(alice: &Caller) -> [crate::callers::Sending; 4] {
    [
        alice.get("/v1/skills/before"),
        alice.post("/v1/skills", skill("meanwhile")),
        alice.get("/v1/skills?q=before"),
        alice.post("/v1/memories", json!({"content": "Likes trains"})),
    ]
}

fn check_told(answer: &Answer) {
    answer.refused(503, "unavailable");
    assert!(answer.header("retry-after").parse::<u32>().is_ok());
}

/// The network drops all data, before requests or during one. Requests fail in time, and later all connections work
/// again.
#[tokio::test]
async fn a_database_that_does_not_answer_is_reported_and_recovers() {
    let ground = Ground::new();
    let wire = Wire::to(&ground.login());
    let service = Service::start(
        &ground.with(&wire.url, &[("KNOWHOW_ACQUIRE_TIMEOUT_MS", "1000"), ("KNOWHOW_STATEMENT_TIMEOUT_MS", "2000")]),
    );
    let alice = &world(&service).await.alice;
    alice.create_all(&["before"]).await;
    for sending in all_ways(alice) {
        sending.await;
    }
    let lock = Lock::take(&ground, "update user_catalogs set revision = revision", 1);
    let in_flight = alice.post("/v1/skills", skill("in-flight")).into_future();
    let (in_flight, ()) = futures_util::future::join(in_flight, async {
        let waits = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        poll_async("the save to wait", async || (ground.count(waits) > 0).then_some(())).await;
        wire.stall();
    })
    .await;
    check_told(&in_flight);
    for _ in 0..3 {
        for answer in join_all(all_ways(alice).into_iter().map(async |sending| sending.await)).await {
            check_told(&answer);
        }
    }
    alice.get("/readyz").await.refused(503, "unavailable");
    alice.get("/healthz").await.ok(200);
    wire.flow();
    lock.join();
    poll_async("the service to be ready", async || (alice.get("/readyz").await.status == 200).then_some(())).await;
    poll_async("reads to heal", async || (alice.get("/v1/skills/before").await.status == 200).then_some(())).await;
    for n in 0..10 {
        alice.replace("before", "First", &format!("First {n}")).await.ok(200);
    }
}

/// A new process prepares its statements, and a locked table delays that too.
#[tokio::test]
async fn a_new_process_waits_for_a_locked_table_for_one_statement() {
    let ground = Ground::new();
    let limits = [("KNOWHOW_STATEMENT_TIMEOUT_MS", "1000"), ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "20000")];
    let service = ground.serve(&limits);
    let alice = &world(&service).await.alice;
    alice.create_all(&["before"]).await;
    let fresh = ground.serve(&limits);
    let lock = Lock::take(&ground, "lock table skills in access exclusive mode", 20);
    let alice = &alice.at(&fresh);
    // Without a limit both requests would wait until the lock ends, and succeed.
    check_told(&alice.get("/v1/skills/before?peek=true").await);
    check_told(&alice.get("/v1/skills").await);
    lock.end(&ground);
    poll_async("the lock to be gone", async || (alice.get("/v1/skills").await.status == 200).then_some(())).await;
}

/// A user's writes wait in one queue. A write that has waited there for the statement timeout is refused.
#[tokio::test]
async fn writes_in_a_users_queue_wait_for_locks_only_once() {
    let ground = Ground::new();
    let service = ground.serve(&[("KNOWHOW_STATEMENT_TIMEOUT_MS", "1500"), ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "20000")]);
    let alice = &world(&service).await.alice;
    alice.create_all(&["before"]).await;
    // Two writes run at a time. If each wait began again, the seventh would start after 4.5 s and succeed.
    let lock = Lock::take(&ground, "update user_catalogs set revision = revision", 5);
    let saves = (0..7).map(|n| async move { alice.post("/v1/skills", skill(&format!("s{n}"))).await });
    for answer in join_all(saves).await {
        match answer.status {
            429 => answer.refused(429, "rate-limited"),
            _ => answer.refused(503, "unavailable"),
        };
    }
    lock.join();
    assert_eq!(alice.names().await, ["before"]);
}

/// A transaction of another connection that keeps a lock for some seconds.
pub struct Lock(thread::JoinHandle<()>);

impl Lock {
    pub fn take(ground: &Ground, statement: &str, seconds: u32) -> Self {
        let (url, sql) = (ground.owner.clone(), format!("begin; {statement}; select pg_sleep({seconds}); commit"));
        // `end` cancels the statement, which then fails.
        let holding = thread::spawn(move || drop(std::panic::catch_unwind(|| execute_at(&url, &sql))));
        let asleep = "pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
        poll("the lock", || (ground.count(asleep) == 1).then_some(()));
        Self(holding)
    }

    pub fn end(self, ground: &Ground) {
        let sql = "select pg_cancel_backend(pid) from pg_stat_activity
                   where datname = current_database() and wait_event = 'PgSleep'";
        execute_at(&ground.owner, sql);
        self.join();
    }

    fn join(self) {
        self.0.join().unwrap();
    }
}
