//! Enqueueing jobs, and the view of admins on the queue.

use chrono::TimeDelta;
use knowhow_domain::{Error, Job, JobId, JobState, SnapshotForm};
use knowhow_store::across::due;
use knowhow_store::jobs::{self, MAX_ATTEMPTS};
use knowhow_store::sessions::snapshots::{self, NewSnapshot, SnapshotKind};
use knowhow_store::skills::QueuedChange;
use knowhow_store::{Principal, Window, WriteTx};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::harness::{House, Tenancy, now};
use crate::writer::{Draft, save_calling};

/// A task without a worker.
const TASK: &str = "test_nothing";

async fn save(house: &House, principal: &Principal, name: &str) -> QueuedChange {
    let mut tx = WriteTx::begin(&house.db, principal, "test").await.unwrap();
    let written = save_calling(&mut tx, &Draft::text(name, &now().to_string()), &[TASK]).await.unwrap();
    tx.commit().await.unwrap();
    written
}

async fn jobs(house: &House, tenancy: &Tenancy<'_>) -> Vec<Job> {
    jobs::list(&house.db, &tenancy.admin().await, None, Window { behind: None, limit: 100 }).await.unwrap()
}

/// A rendering that keeps failing ends at its limit of attempts, and a waiting one keeps its state.
#[tokio::test]
async fn the_periodic_job_does_not_reset_a_waiting_rendering() {
    crate::harness::with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        let new = NewSnapshot {
            sha256: [7; 32],
            text: "text",
            omitted: &serde_json::Value::Null,
            // The user's data have another revision.
            revision: -1,
            now: now(),
            is_asked: true,
            is_alone: false,
        };
        let kind = SnapshotKind { index_budget: 1000, form: SnapshotForm::FULL };
        snapshots::put(&house.db, &alice, kind, &new).await.unwrap();
        let later = |hours: i64| now() + TimeDelta::hours(hours);
        let due = async |at| {
            let renewed = due::renew_snapshots(&house.db, TimeDelta::minutes(30), at, 10).await.unwrap();
            assert_eq!(renewed.prolonged, 0);
            renewed.enqueued
        };
        assert_eq!((due(later(1)).await, due(later(1)).await), (1, 0));
        pretend(&house, &tenancy, "attempts = 7, last_error = 'no', run_at = now() + interval '1 hour'").await;
        assert_eq!(due(later(1)).await, 0);
        assert_eq!(jobs(&house, &tenancy).await[0].attempts, 7);
        pretend(&house, &tenancy, "attempts = max_attempts").await;
        assert_eq!((due(later(2)).await, due(later(8)).await), (0, 1));
    })
    .await;
}

/// Sets columns of the tenant's jobs as a worker would.
async fn pretend(house: &House, tenancy: &Tenancy<'_>, set: &str) {
    let jobs = "update graphile_worker._private_jobs";
    house.place.run(&format!("{jobs} set {set} where payload ->> 'tenant_id' = '{}'", tenancy.id.0)).await;
}

#[tokio::test]
async fn a_job_is_enqueued_with_its_cause_or_not_at_all() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    save_calling(&mut tx, &Draft::text("plan", "First."), &[TASK]).await.unwrap();
    drop(tx);
    assert!(jobs(&house, &tenancy).await.is_empty());

    let written = save(&house, &alice, "plan").await;
    let [job] = &jobs(&house, &tenancy).await[..] else { panic!("one job") };
    assert_eq!((job.task.as_str(), job.state, job.user.as_deref()), (TASK, JobState::Waiting, Some("alice")));
    assert_eq!((job.attempts, job.max_attempts, &job.last_error), (0, MAX_ATTEMPTS, &None));
    assert_eq!(job.key, Some(format!("{TASK}:{}", written.id.0)));
    let payload = format!(
        "select count(*) from graphile_worker._private_jobs where id = {} and payload::jsonb - 'seal' = jsonb_build_object(
         'tenant_id', '{}', 'user_id', '{}', 'skill_id', '{}')",
        job.id,
        tenancy.id.0,
        alice.user().unwrap().0,
        written.id.0
    );
    assert_eq!(house.place.count(&payload).await, 1);
}

#[tokio::test]
async fn at_most_one_job_per_skill_and_task_waits() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    for name in ["plan", "plan", "other"] {
        save(&house, &alice, name).await;
    }
    save(&house, &bob, "plan").await;
    assert_eq!(jobs(&house, &tenancy).await.len(), 3);

    // A failed job, even a dead one, begins again with a new cause.
    pretend(&house, &tenancy, "attempts = 3, max_attempts = 3, last_error = 'TaskError(\"no\")'").await;
    assert!(jobs(&house, &tenancy).await.iter().all(|job| job.state == JobState::Dead));
    save(&house, &alice, "plan").await;
    let anew: Vec<Job> = jobs(&house, &tenancy).await.into_iter().filter(|j| j.state != JobState::Dead).collect();
    let [job] = &anew[..] else { panic!("one job") };
    assert_eq!((job.state, job.attempts, job.max_attempts), (JobState::Waiting, 0, MAX_ATTEMPTS));

    // A running job has read the data before this cause, so a new job follows it.
    pretend(&house, &tenancy, "locked_at = now(), locked_by = 'a test'").await;
    save(&house, &alice, "plan").await;
    let states: Vec<JobState> = jobs(&house, &tenancy).await.iter().map(|job| job.state).collect();
    assert_eq!(states, [JobState::Waiting, JobState::Running, JobState::Running, JobState::Running]);
}

#[tokio::test]
async fn many_concurrent_causes_make_one_job() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    futures_util::future::join_all((0..20).map(|_| save(&house, &alice, "plan"))).await;
    assert_eq!(jobs(&house, &tenancy).await.len(), 1);
}

/// Tries everything that SQL in a caller's transaction could do.
#[tokio::test]
async fn no_caller_enqueues_or_sees_jobs_of_another() {
    let house = House::open().await;
    let (mine, theirs) = (house.tenant().await, house.tenant().await);
    let (mallory, alice) = (mine.user("mallory").await, theirs.user("alice").await);
    let skill = save(&house, &alice, "plan").await.id.0;
    let (theirs_id, alice_id) = (theirs.id.0, alice.user().unwrap().0);
    let mut conn = house.place.login().await;
    let as_mallory = |role: &str| {
        format!(
            "begin; set local role {role}; set local app.tenant_id = '{}'; set local app.user_id = '{}'",
            mine.id.0,
            mallory.user().unwrap().0
        )
    };
    let forged =
        format!("jsonb_build_object('tenant_id', '{theirs_id}', 'user_id', '{alice_id}', 'skill_id', '{skill}')");
    let refused = [
        format!("select app.enqueue_for('{theirs_id}', '{alice_id}', '{TASK}', '{{}}', 'x')"),
        format!("select app.enqueue_for('{theirs_id}', '{alice_id}', '{TASK}', '{{}}', 'x', true)"),
        format!("select graphile_worker.add_job('{TASK}')"),
        "insert into graphile_worker._private_jobs (task_id) values (1)".to_owned(),
        "select app.open_queue()".to_owned(),
    ];
    for role in ["knowhow_tenant", "knowhow_admin"] {
        for statement in &refused {
            conn.execute(AssertSqlSafe(as_mallory(role))).await.unwrap();
            let refusal = conn.execute(AssertSqlSafe(statement.as_str())).await.unwrap_err();
            let code = refusal.as_database_error().unwrap().code().unwrap().into_owned();
            assert_eq!(code, "42501", "{role}: {statement}: {refusal}");
            conn.execute("rollback").await.unwrap();
        }
        conn.execute(AssertSqlSafe(as_mallory(role))).await.unwrap();
        for bulk in ["", ", true"] {
            let enqueue = format!("select app.enqueue('{TASK}', {forged}, '{skill}'{bulk})");
            conn.execute(AssertSqlSafe(enqueue)).await.unwrap();
        }
        conn.execute("commit").await.unwrap();
    }
    let context_free = "begin; set local role knowhow_tenant; select app.enqueue('test_nothing', '{}', 'x')";
    let refusal = conn.execute(context_free).await.unwrap_err();
    assert!(refusal.to_string().contains("no tenant context"), "{refusal}");
    conn.execute("rollback").await.unwrap();
    let seen = "begin; set local role knowhow_tenant; select count(*) from graphile_worker._private_jobs";
    assert!(conn.execute(seen).await.is_err());
    conn.close().await.unwrap();
    // Mallory's forged job became a job of mallory, once for both roles. Alice's job is unchanged.
    let own = jobs(&house, &mine).await;
    assert_eq!(own.iter().map(|job| job.user.as_deref()).collect::<Vec<_>>(), [Some("mallory")]);
    let [job] = &jobs(&house, &theirs).await[..] else { panic!("one job") };
    assert_eq!((job.user.as_deref(), job.state), (Some("alice"), JobState::Waiting));
    let revision = format!("select revision::bigint from graphile_worker._private_jobs where id = {}", job.id);
    assert_eq!(house.place.count(&revision).await, 0);
}

#[tokio::test]
async fn an_admin_lists_retries_and_discards_only_jobs_of_the_tenant() {
    let house = House::open().await;
    let (mine, theirs) = (house.tenant().await, house.tenant().await);
    let (alice, elsewhere) = (mine.user("alice").await, theirs.user("alice").await);
    for name in ["one", "two", "three"] {
        save(&house, &alice, name).await;
    }
    save(&house, &elsewhere, "one").await;
    let (db, admin) = (&house.db, mine.admin().await);
    let page = jobs::list(db, &admin, None, Window { behind: None, limit: 2 }).await.unwrap();
    let rest = jobs::list(db, &admin, None, Window { behind: Some(page[1].id), limit: 2 }).await.unwrap();
    assert_eq!((page.len(), rest.len()), (2, 1));
    assert!(page[0].id > page[1].id && page[1].id > rest[0].id);
    let job = rest[0].id;
    let foreign = jobs(&house, &theirs).await[0].id;
    for id in [foreign, JobId(i64::MAX)] {
        assert!(matches!(jobs::retry(db, &admin, id, now()).await, Err(Error::NotFound { .. })));
        assert!(matches!(jobs::discard(db, &admin, id, now()).await, Err(Error::NotFound { .. })));
    }
    assert!(matches!(jobs::list(db, &alice, None, Window { behind: None, limit: 1 }).await, Err(Error::Forbidden(_))));

    pretend(&house, &mine, "attempts = 10, last_error = 'TaskError(\"it''s late\")', run_at = now() + '1 h'").await;
    let dead = jobs::list(db, &admin, Some(JobState::Dead), Window { behind: None, limit: 10 }).await.unwrap();
    assert_eq!(dead.len(), 3);
    assert_eq!(dead[0].last_error.as_deref(), Some("it's late"));
    jobs::retry(db, &admin, job, now()).await.unwrap();
    let waiting = jobs::list(db, &admin, Some(JobState::Waiting), Window { behind: None, limit: 10 }).await.unwrap();
    assert_eq!(waiting.iter().map(|j| j.id).collect::<Vec<_>>(), [job]);
    jobs::discard(db, &admin, job, now()).await.unwrap();
    assert_eq!(jobs::list(db, &admin, None, Window { behind: None, limit: 10 }).await.unwrap().len(), 2);

    pretend(&house, &mine, "locked_at = now(), locked_by = 'a test'").await;
    let busy = jobs::retry(db, &admin, page[0].id, now()).await.unwrap_err();
    assert_eq!(busy.code(), "job-running");
    assert_eq!(jobs::discard(db, &admin, page[0].id, now()).await.unwrap_err().code(), "job-running");
    let audited = format!(
        "select count(*) from audit_log where tenant_id = '{}' and action in ('job.retry', 'job.discard')
         and target = '{TASK}' and (detail ->> 'job')::bigint = {job} and actor = (select 'user:' || user_id from users u where u.tenant_id = audit_log.tenant_id and u.external_id = 'the-admin')",
        mine.id.0
    );
    assert_eq!(house.place.count(&audited).await, 2);
    let untouched = jobs(&house, &theirs).await;
    assert_eq!((untouched.len(), untouched[0].state), (1, JobState::Waiting));
}
