//! Order of jobs: jobs caused by people run before bulk jobs. Within each class, tenants take turns.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join;
use knowhow_domain::new_id;
use knowhow_store::Database;
use knowhow_store::jobs::{Claimed, JobError, JobKind, Task, WorkerConfig, work};
use knowhow_testing::{poll_async, until};
use serde::Deserialize;
use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::harness::{House, Place, config, with_database};

/// Job that records its note and whether it ran as bulk.
struct Noting(Arc<Mutex<Vec<(String, bool)>>>);

#[derive(Deserialize)]
struct Note {
    note: String,
}

impl JobKind for Noting {
    const TASK: &'static str = "test_noting";

    async fn run(&self, claimed: Claimed) -> Result<(), JobError> {
        let Note { note } = claimed.ids()?;
        self.0.lock().unwrap().push((note, claimed.is_bulk()));
        Ok(())
    }
}

/// A tenant with jobs. The tenant does not have to exist.
struct Tenant<'a> {
    place: &'a Place,
    name: &'static str,
    id: Uuid,
}

impl<'a> Tenant<'a> {
    fn new(place: &'a Place, name: &'static str) -> Self {
        Self { place, name, id: new_id() }
    }

    /// Enqueues one job for each number, recorded as `name1`, `name2`, ...
    async fn enqueue(&self, things: std::ops::RangeInclusive<i32>, bulk: &str) {
        let (name, id, task) = (self.name, self.id, Noting::TASK);
        let (first, last) = (things.start(), things.end());
        let statement = format!(
            "select app.enqueue_for('{id}', '{id}', '{task}', jsonb_build_object('note', '{name}' || n), n::text{bulk})
             from generate_series({first}, {last}) n"
        );
        self.place.run(&statement).await;
    }

    async fn bulk(&self, things: std::ops::RangeInclusive<i32>) {
        self.enqueue(things, ", true").await;
    }

    /// Enqueues jobs as one person causes them. Older processes, which know no bulk, also enqueue this way.
    async fn personal(&self, things: std::ops::RangeInclusive<i32>) {
        self.enqueue(things, "").await;
    }

    /// Returns the priority of the waiting job about a thing.
    async fn priority(&self, thing: i32) -> i64 {
        let key = format!("{0}:{0}:{1}:{thing}", self.id, Noting::TASK);
        let waiting = "select priority::bigint from graphile_worker._private_jobs where key";
        self.place.count(&format!("{waiting} = '{key}'")).await
    }
}

/// Runs all jobs with one worker, one after the other, and returns the records.
async fn work_off(place: &Place, count: i32) -> Vec<(String, bool)> {
    let done = Arc::<Mutex<Vec<_>>>::default();
    let house = House::at(place, 2, 1);
    let tasks = [Task::new(Noting(done.clone()))];
    run(&house.db, &one_at_a_time(place), &tasks, async || until_done(&done, count).await).await;
    done.lock().unwrap().clone()
}

async fn until_done(done: &Mutex<Vec<(String, bool)>>, count: i32) {
    until("all jobs", || done.lock().unwrap().len() >= usize::try_from(count).unwrap()).await;
}

fn one_at_a_time(place: &Place) -> WorkerConfig {
    WorkerConfig {
        database: config(&place.login_url, 2, 1),
        concurrency: 1,
        recovery: Duration::from_secs(60),
        shutdown: Duration::from_secs(1),
    }
}

async fn run(db: &Database, config: &WorkerConfig, tasks: &[Task], until: impl AsyncFnOnce()) {
    let stop = Arc::new(Notify::new());
    let stopped = stop.clone();
    let working = work(db, config, tasks, async move { stopped.notified().await });
    let waiting = async {
        tokio::time::timeout(Duration::from_secs(60), until()).await.expect("the jobs were not done");
        stop.notify_one();
    };
    join(Box::pin(working), Box::pin(waiting)).await.0.unwrap();
}

fn names(done: &[(String, bool)]) -> Vec<&str> {
    done.iter().map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn jobs_of_persons_run_first_and_tenants_take_turns() {
    with_database(async |place| {
        let (large, small, person) = (Tenant::new(place, "l"), Tenant::new(place, "s"), Tenant::new(place, "p"));
        large.bulk(1..=50).await;
        small.bulk(1..=5).await;
        person.personal(1..=1).await;
        let done = work_off(place, 56).await;
        let turns = ["p1", "l1", "l2", "s1", "l3", "s2", "l4", "s3", "l5", "s4", "l6", "s5"];
        assert_eq!(names(&done)[..12], turns);
        let rest: Vec<String> = (7..=50).map(|n| format!("l{n}")).collect();
        assert_eq!(names(&done)[12..], rest);
        assert!(done.iter().all(|(name, is_bulk)| *is_bulk == (name != "p1")));
    })
    .await;
}

/// All jobs are caused by persons, and one tenant has more jobs than there are priorities.
#[tokio::test]
async fn a_tenant_that_saves_much_lets_others_pass() {
    with_database(async |place| {
        let (large, small) = (Tenant::new(place, "l"), Tenant::new(place, "s"));
        large.personal(1..=120).await;
        small.personal(1..=4).await;
        assert_eq!((large.priority(100).await, large.priority(120).await, small.priority(4).await), (99, 99, 3));
        // A second cause keeps the priority of a waiting job.
        large.personal(50..=50).await;
        assert_eq!(large.priority(50).await, 49);
        let done = work_off(place, 124).await;
        assert_eq!(names(&done)[..8], ["l1", "s1", "l2", "s2", "l3", "s3", "l4", "s4"]);
        let rest: Vec<String> = (5..=120).map(|n| format!("l{n}")).collect();
        assert_eq!(names(&done)[8..], rest);
    })
    .await;
}

/// A tenant that had no jobs until now gets no advantage over others.
#[tokio::test]
async fn a_tenant_that_comes_late_takes_turns_from_then_on() {
    with_database(async |place| {
        let (large, small) = (Tenant::new(place, "l"), Tenant::new(place, "s"));
        large.bulk(1..=40).await;
        place.run("delete from graphile_worker._private_jobs where priority <= 130").await;
        small.bulk(1..=20).await;
        large.bulk(41..=42).await;
        let done = work_off(place, 32).await;
        let turns = ["l31", "l32", "s1", "l33", "s2", "l34", "s3", "l35", "s4", "l36", "s5"];
        assert_eq!(names(&done)[..11], turns);
        assert_eq!(
            names(&done)[18..24],
            ["s9", "s10", "l41", "s11", "l42", "s12"],
            "what comes later goes behind its own"
        );
    })
    .await;
}

/// A plan made while the queue was empty would read the whole queue for each job.
#[tokio::test]
async fn a_long_queue_is_not_read_for_each_job() {
    with_database(async |place| {
        let (few, more, waiting) = (30, 100, 2000);
        let tenant = Tenant::new(place, "t");
        // The table was empty when Postgres last analyzed it.
        place.run("vacuum analyze graphile_worker._private_jobs").await;
        // Each connection claims some jobs, because Postgres keeps a plan only from the sixth execution on.
        tenant.bulk(1..=few).await;
        let rows_read = "select seq_tup_read + idx_tup_fetch from pg_stat_user_tables where relname = '_private_jobs'";
        let (house, done) = (House::at(place, 2, 1), Arc::<Mutex<Vec<_>>>::default());
        let mut before = 0;
        run(&house.db, &one_at_a_time(place), &[Task::new(Noting(done.clone()))], async || {
            until_done(&done, few).await;
            before = place.count(rows_read).await;
            // Enqueueing with the function would read the table too.
            let (id, task) = (tenant.id, Noting::TASK);
            let jobs = format!(
                "insert into graphile_worker._private_jobs (task_id, payload, priority, max_attempts)
                 select t.id, json_build_object('note', n::text, 'tenant_id', '{id}', 'user_id', '{id}'), 100 + n, 10
                 from graphile_worker._private_tasks t cross join generate_series(1, {waiting}) n where t.identifier = '{task}'"
            );
            place.run(&jobs).await;
            until_done(&done, few + more).await;
        })
        .await;
        let looked_up = "select seq_scan + idx_scan from pg_stat_user_tables where relname = '_private_jobs'";
        let counted = async || (place.count(looked_up).await >= i64::from(more)).then_some(());
        poll_async("what the worker has counted", counted).await;
        let read = place.count(rows_read).await - before;
        assert!(read < 10 * waiting, "{read} rows for some {more} jobs");
    })
    .await;
}

/// A job that waits for a retry, or is dead, does not count as the head of the queue.
#[tokio::test]
async fn failed_jobs_hold_no_position_in_the_queue() {
    with_database(async |place| {
        let (large, small) = (Tenant::new(place, "l"), Tenant::new(place, "s"));
        large.bulk(1..=20).await;
        let jobs = "graphile_worker._private_jobs";
        place.run(&format!("update {jobs} set attempts = 1, run_at = now() + '1 h' where priority < 105")).await;
        place.run(&format!("update {jobs} set attempts = 10 where priority between 105 and 110")).await;
        small.bulk(1..=1).await;
        assert_eq!(small.priority(1).await, 112);
        place.run(&format!("update {jobs} set attempts = 1 where priority > 112")).await;
        large.bulk(21..=21).await;
        assert_eq!(large.priority(21).await, 113, "behind what it still has in the line");
    })
    .await;
}

#[tokio::test]
async fn a_person_moves_a_job_up_and_bulk_moves_none_down() {
    with_database(async |place| {
        let tenant = Tenant::new(place, "t");
        tenant.bulk(1..=3).await;
        assert_eq!((tenant.priority(1).await, tenant.priority(3).await), (101, 103));
        tenant.personal(3..=3).await;
        assert_eq!(tenant.priority(3).await, 0);
        tenant.bulk(3..=3).await;
        assert_eq!(tenant.priority(3).await, 0);
        // A job that already waits keeps its priority.
        tenant.bulk(1..=1).await;
        assert_eq!(tenant.priority(1).await, 101);
        // A dead job has no priority.
        place.run("update graphile_worker._private_jobs set attempts = max_attempts where priority = 0").await;
        tenant.bulk(3..=3).await;
        assert_eq!(tenant.priority(3).await, 103);
        // A job that follows a running one has the priority of its own cause.
        place.run("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'a test'").await;
        tenant.personal(1..=1).await;
        tenant.bulk(2..=2).await;
        assert_eq!((tenant.priority(1).await, tenant.priority(2).await), (0, 101));
    })
    .await;
}

#[tokio::test]
async fn bulk_still_runs_during_endless_jobs_of_persons() {
    with_database(async |place| {
        let (bulk, person) = (Tenant::new(place, "b"), Tenant::new(place, "p"));
        bulk.bulk(1..=3).await;
        person.personal(1..=60).await;
        // A job that this worker cannot run takes no turn.
        place.run("select app.enqueue_for(null, null, 'test_unknown', '{}', 'x', true)").await;
        place
            .run("update graphile_worker._private_jobs set priority = 100 where priority = 102 and key like ':%'")
            .await;
        let done = work_off(place, 63).await;
        let at = |name: &str| done.iter().position(|(done, is_bulk)| done == name && *is_bulk).unwrap();
        assert_eq!((at("b1"), at("b2"), at("b3")), (8, 17, 26), "{done:?}");
    })
    .await;
}

#[tokio::test]
async fn priorities_have_a_limit_and_enqueueing_never_blocks() {
    with_database(async |place| {
        let tenant = Tenant::new(place, "t");
        tenant.bulk(1..=1).await;
        place.run("update graphile_worker._private_jobs set priority = 32767").await;
        tenant.bulk(2..=3).await;
        assert_eq!((tenant.priority(2).await, tenant.priority(3).await), (32_767, 32_767));
        let enqueue = |thing: i32| {
            let (id, task) = (tenant.id, Noting::TASK);
            format!(
                "begin; set local statement_timeout = 5000; \
                     select app.enqueue_for('{id}', '{id}', '{task}', '{{}}', '{thing}', true)"
            )
        };
        // Two concurrent transactions of the same tenant.
        let (mut one, mut two) = (place.owner().await, place.owner().await);
        one.execute(AssertSqlSafe(enqueue(4))).await.unwrap();
        two.execute(AssertSqlSafe(enqueue(5))).await.unwrap();
        two.execute("commit").await.unwrap();
        one.execute("commit").await.unwrap();
        one.close().await.unwrap();
        two.close().await.unwrap();
    })
    .await;
}
