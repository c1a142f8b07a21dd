//! Running jobs: failures, workers that stop or die, and periodic jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join;
use knowhow_domain::{Error, Job, JobState};
use knowhow_store::jobs::{self, Claimed, JobError, JobKind, Task, WorkerConfig, work};
use knowhow_store::{DatabaseConfig, FrequentStatements, Gate, Principal, Window, WriteTx};
use knowhow_testing::{PATIENCE, poll_async, until as wait_until};
use sqlx::{AssertSqlSafe, Connection, Executor};
use tokio::sync::{Notify, mpsc};

use crate::harness::{House, Place, Tenancy, now, with_database};
use crate::writer::{Draft, save_calling};

fn config(place: &Place) -> WorkerConfig {
    WorkerConfig {
        database: DatabaseConfig {
            url: place.login_url.as_str().into(),
            places: Vec::new(),
            write_connections: 2,
            read_connections: 1,
            prepares_ahead: FrequentStatements::default(),
            acquire_timeout: Duration::from_secs(10),
            queue_length: 0,
            queue_wait: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(10),
        },
        concurrency: 2,
        recovery: Duration::from_millis(600),
        shutdown: Duration::from_millis(100),
    }
}

/// Runs a worker until `test` is done.
async fn while_working<T>(house: &House, tasks: &[Task], test: impl Future<Output = T>) -> T {
    let (done, config) = (Arc::new(Notify::new()), config(&house.place));
    let stop = done.clone();
    let working = work(&house.db, &config, tasks, async move { stop.notified().await });
    let testing = async {
        let outcome = tokio::time::timeout(PATIENCE, test).await.expect("the test waited in vain");
        done.notify_one();
        outcome
    };
    // Boxed, because nested workers would not fit on the stack of a test.
    let (worked, outcome) = join(Box::pin(working), Box::pin(testing)).await;
    worked.unwrap();
    outcome
}

async fn enqueue(house: &House, principal: &Principal, task: &str) {
    let mut tx = WriteTx::begin(&house.db, principal, "test").await.unwrap();
    save_calling(&mut tx, &Draft::text("plan", &now().to_string()), &[task]).await.unwrap();
    tx.commit().await.unwrap();
}

async fn list(house: &House, tenancy: &Tenancy<'_>) -> Vec<Job> {
    jobs::list(&house.db, &tenancy.admin().await, None, Window { behind: None, limit: 10 }).await.unwrap()
}

/// Waits until `so` returns true for the tenant's jobs.
async fn until(house: &House, tenancy: &Tenancy<'_>, mut so: impl FnMut(&[Job]) -> bool) -> Vec<Job> {
    poll_async("the jobs", async || Some(list(house, tenancy).await).filter(|jobs| so(jobs))).await
}

/// Job that sends its principal to the test.
struct Telling(Gate, mpsc::UnboundedSender<Option<Principal>>);

impl JobKind for Telling {
    const TASK: &'static str = "test_telling";

    async fn run(&self, claimed: Claimed) -> Result<(), JobError> {
        self.1.send(self.0.by_claimed_job(&claimed).await?).unwrap();
        Ok(())
    }
}

#[tokio::test]
async fn a_job_runs_as_its_user_and_is_removed() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        let (told, mut telling) = mpsc::unbounded_channel();
        let tasks = [Task::new(Telling(house.gate.clone(), told))];
        while_working(&house, &tasks, async {
            enqueue(&house, &alice, Telling::TASK).await;
            let principal = telling.recv().await.unwrap().unwrap();
            assert_eq!((principal.tenant(), principal.user().unwrap()), (alice.tenant(), alice.user().unwrap()));
            assert_eq!((principal.external_id(), principal.actor()), (Some("alice"), "job:test_telling"));
            assert_eq!(principal.tenant_slug(), alice.tenant_slug());
            assert!(principal.require(knowhow_domain::Scope::SkillsWrite).is_ok());
            assert!(principal.require_admin().is_err() && principal.require_operator().is_err());
            until(&house, &tenancy, <[Job]>::is_empty).await;
        })
        .await;
        assert_eq!(place.count("select count(*) from graphile_worker._private_workers").await, 0);
    })
    .await;
}

/// Job that fails in a way that depends on its task.
struct Failing<const WAY: usize>;

impl<const WAY: usize> JobKind for Failing<WAY> {
    const TASK: &'static str = ["test_retry", "test_permanent", "test_panic", "test_defect"][WAY];

    async fn run(&self, _: Claimed) -> Result<(), JobError> {
        match WAY {
            0 => Err(Error::Unavailable("the \"model\" is\naway".into()).into()),
            1 => Err(JobError::Permanent(Error::invalid("/x", "never"))),
            2 => panic!("select secret from jobs"),
            _ => Err(Error::internal("select secret from jobs").into()),
        }
    }
}

#[tokio::test]
async fn a_failure_is_retried_later_or_never_and_shows_no_secret() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let tasks =
            [Task::new(Failing::<0>), Task::new(Failing::<1>), Task::new(Failing::<2>), Task::new(Failing::<3>)];
        let names = ["test_retry", "test_permanent", "test_panic", "test_defect"];
        while_working(&house, &tasks, async {
            for name in names {
                enqueue(&house, &tenancy.user(name).await, name).await;
            }
            let jobs = until(&house, &tenancy, |jobs| jobs.iter().all(|job| job.last_error.is_some())).await;
            let job = |name: &str| jobs.iter().find(|job| job.task == name).unwrap();
            assert_eq!((job("test_retry").state, job("test_permanent").state), (JobState::Failed, JobState::Dead));
            assert_eq!((job("test_panic").state, job("test_defect").state), (JobState::Failed, JobState::Failed));
            assert!(job("test_retry").run_at > now());
            assert_eq!(job("test_retry").last_error.as_deref(), Some("the 'model' is away"));
            assert_eq!(job("test_permanent").last_error.as_deref(), Some("/x: never"));
            for name in ["test_panic", "test_defect"] {
                let said = format!("internal error; see the log for job {}", job(name).id);
                assert_eq!(job(name).last_error, Some(said));
            }
            assert_eq!(jobs::count_dead(&house.db).await.unwrap(), 1);
        })
        .await;
    })
    .await;
}

/// Job that never ends.
struct Endless(mpsc::UnboundedSender<()>);

impl JobKind for Endless {
    const TASK: &'static str = "test_endless";

    async fn run(&self, _: Claimed) -> Result<(), JobError> {
        self.0.send(()).unwrap();
        std::future::pending().await
    }
}

#[tokio::test]
async fn jobs_running_at_shutdown_are_returned_without_an_attempt() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let (begun, mut beginning) = mpsc::unbounded_channel();
        let tasks = [Task::new(Endless(begun))];
        while_working(&house, &tasks, async {
            enqueue(&house, &tenancy.user("alice").await, Endless::TASK).await;
            beginning.recv().await.unwrap();
            until(&house, &tenancy, |jobs| jobs[0].state == JobState::Running).await;
        })
        .await;
        let jobs = list(&house, &tenancy).await;
        assert_eq!((jobs[0].state, jobs[0].attempts), (JobState::Waiting, 0));
        while_working(&house, &tasks, beginning.recv()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_dead_workers_job_runs_elsewhere_and_counts_an_attempt() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let (told, mut telling) = mpsc::unbounded_channel();
        let tasks = [Task::new(Telling(house.gate.clone(), told))];
        enqueue(&house, &tenancy.user("alice").await, Telling::TASK).await;
        place
            .run(
                "insert into graphile_worker._private_workers (id, last_heartbeat_at) values ('dead', now() - '1 s'::interval);
                 update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now() - '1 s'::interval,
                     attempts = max_attempts - 1",
            )
            .await;
        while_working(&house, &tasks, async {
            let jobs = until(&house, &tenancy, |jobs| jobs[0].state == JobState::Failed).await;
            assert_eq!((jobs[0].attempts, jobs[0].max_attempts), (9, 10));
            assert_eq!(jobs[0].last_error.as_deref(), Some("the worker stopped while running the job"));
            place.run("update graphile_worker._private_jobs set run_at = now()").await;
            telling.recv().await.unwrap();
            until(&house, &tenancy, <[Job]>::is_empty).await;

            enqueue(&house, &tenancy.user("bob").await, "test_lethal").await;
            let lethal = "update graphile_worker._private_jobs set locked_by = 'another', locked_at = now() - '1 s'::interval,
                          attempts = max_attempts";
            place.run(lethal).await;
            // The job has killed as many workers as allowed.
            until(&house, &tenancy, |jobs| jobs[0].state == JobState::Dead).await;
        })
        .await;
    })
    .await;
}

/// Job that reports its start, and ends when the test allows it.
struct Slow(mpsc::UnboundedSender<()>, Arc<Notify>);

impl JobKind for Slow {
    const TASK: &'static str = "test_slow";

    async fn run(&self, _: Claimed) -> Result<(), JobError> {
        self.0.send(()).unwrap();
        self.1.notified().await;
        Ok(())
    }
}

/// A worker does not remove a job that it no longer owns, because the job may have been enqueued again.
#[tokio::test]
async fn a_worker_does_not_remove_a_job_that_it_no_longer_owns() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        let (begun, mut beginning) = mpsc::unbounded_channel();
        let end = Arc::new(Notify::new());
        let tasks = [Task::new(Slow(begun, end.clone()))];
        while_working(&house, &tasks, async {
            enqueue(&house, &alice, Slow::TASK).await;
            beginning.recv().await.unwrap();
            // The job must not run again before there is a new cause for it.
            let freed = "locked_by = null, locked_at = null, run_at = now() + interval '1 hour'";
            place.run(&format!("update graphile_worker._private_jobs set {freed}")).await;
            enqueue(&house, &alice, Slow::TASK).await;
            end.notify_one();
            beginning.recv().await.unwrap();
            end.notify_one();
            until(&house, &tenancy, <[Job]>::is_empty).await;
        })
        .await;
    })
    .await;
}

/// A program with only the worker's role can write any row of the queue. The worker runs only jobs that the database
/// itself enqueued.
#[tokio::test]
async fn a_job_not_enqueued_by_the_database_is_refused_and_reported() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let (mine, theirs) = (house.tenant().await, house.tenant().await);
        let (mallory, alice) = (mine.user("mallory").await, theirs.user("alice").await);
        let (told, mut telling) = mpsc::unbounded_channel();
        let tasks = [Task::new(Telling(house.gate.clone(), told))];
        enqueue(&house, &mallory, Telling::TASK).await;
        enqueue(&house, &mallory, "test_nothing").await;
        let (tenant, user) = (theirs.id.0, alice.user().unwrap().0);
        let hers = format!("jsonb_build_object('tenant_id', '{tenant}', 'user_id', '{user}')");
        let (as_queue, add) = ("begin; set local role knowhow_queue", "graphile_worker.add_job('test_telling'");
        let jobs = "graphile_worker._private_jobs";
        let sealed = |task: &str| {
            format!("{jobs} j where j.key like '%:{task}:%' and j.payload ->> 'tenant_id' = '{}'", mine.id.0)
        };
        for forgery in [
            format!("select {add}, {hers}::json, job_key => 'plain')"),
            format!(
                "insert into {jobs} (task_id, payload) select task_id, {hers}::json from {}",
                sealed("test_telling")
            ),
            // A valid seal of another owner, and one of another task.
            format!(
                "select {add}, (j.payload::jsonb || {hers})::json, job_key => 'owner') from {}",
                sealed("test_telling")
            ),
            format!("select {add}, j.payload, job_key => 'task') from {}", sealed("test_nothing")),
        ] {
            let mut conn = place.login().await;
            conn.execute(AssertSqlSafe(format!("{as_queue}; {forgery}; commit"))).await.unwrap();
            conn.close().await.unwrap();
        }
        while_working(&house, &tasks, async {
            assert_eq!(telling.recv().await.unwrap().unwrap().external_id(), Some("mallory"));
            let dead = |jobs: &[Job]| jobs.iter().filter(|job| job.state == JobState::Dead).count();
            let hers = until(&house, &theirs, |jobs| dead(jobs) == 3).await;
            let own = until(&house, &mine, |jobs| dead(jobs) == 1).await;
            for job in hers.iter().chain(own.iter().filter(|job| job.state == JobState::Dead)) {
                assert!(job.last_error.as_ref().unwrap().starts_with("the job was rejected"), "{job:?}");
            }
            assert!(telling.try_recv().is_err(), "none of them ran");
        })
        .await;
    })
    .await;
}

/// However long bulk jobs take, one slot is reserved for jobs of persons.
#[tokio::test]
async fn bulk_leaves_a_slot_for_persons() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        let (begun, mut beginning) = mpsc::unbounded_channel();
        let (told, mut telling) = mpsc::unbounded_channel();
        let tasks = [
            Task::new(Slow(begun, Arc::new(Notify::new()))),
            Task::new(Telling(house.gate.clone(), told)),
        ];
        let (tenant, user) = (tenancy.id.0, alice.user().unwrap().0);
        let bulk = format!(
            "select app.enqueue_for('{tenant}', '{user}', 'test_slow', '{{}}', n::text, true) from generate_series(1, 5) n"
        );
        while_working(&house, &tasks, async {
            place.run(&bulk).await;
            beginning.recv().await.unwrap();
            // Gives the other slot enough time to take a bulk job, which it must not do.
            for _ in 0..3 {
                enqueue(&house, &alice, Telling::TASK).await;
                telling.recv().await.unwrap();
            }
            assert!(beginning.try_recv().is_err());
        })
        .await;
    })
    .await;
}

/// Job that counts its runs.
struct Counting(Arc<AtomicUsize>);

impl JobKind for Counting {
    const TASK: &'static str = "test_counting";

    async fn run(&self, _: Claimed) -> Result<(), JobError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test]
async fn a_periodic_job_runs_once_for_all_workers() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let ran = Arc::new(AtomicUsize::new(0));
        let tasks = [Task::scheduled(Counting(ran.clone()), "*/10 * * * *")];
        // No worker ran at the last due time, so each worker would make up for it.
        place
            .run(
                "insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
                 values ('test_counting', now() - '1 day'::interval, now() - '25 minutes'::interval)",
            )
            .await;
        let busy = "select count(*) + (select 4 - count(*) from graphile_worker._private_workers)
                    from graphile_worker._private_jobs";
        let all = poll_async("the last tick", async || {
            (ran.load(Ordering::SeqCst) > 0 && place.count(busy).await == 0).then_some(())
        });
        let two = Box::pin(while_working(&house, &tasks, all));
        while_working(&house, &tasks, two).await;
        assert_eq!(ran.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test]
async fn a_backlog_is_processed_without_waiting_between_jobs() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let ran = Arc::new(AtomicUsize::new(0));
        let tasks = [Task::new(Counting(ran.clone()))];
        place
            .run(
                "select app.enqueue_for(null, null, 'test_counting', '{}', n::text) from generate_series(1, 300) n;
                 select app.enqueue_for(null, null, 'test_counting', '{}', '1')",
            )
            .await;
        // Two slots that only polled twice a second would exceed the time limit of a test.
        while_working(&house, &tasks, wait_until("the backlog", || ran.load(Ordering::SeqCst) >= 300)).await;
        assert_eq!(ran.load(Ordering::SeqCst), 300);
    })
    .await;
}
