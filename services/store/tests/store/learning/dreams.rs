//! Nights of users over all tenants, the end and removal of old dreams, and how runs are read.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::learning::dream::{Cause, Mode, OpOutcome, RunPass, RunState};
use knowhow_domain::{DreamId, Error, SessionId, new_id};
use knowhow_store::learning::dreams::{self, DueNights, EndedRun, NewOp, NewRun, PutLearning};
use knowhow_store::{Principal, WriteTx, prune};
use knowhow_testing::Wire;
use serde_json::json;
use uuid::Uuid;

use crate::harness::{House, Place, now, open, with_database};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Gives the user a snapshot that was used at this time, which makes the user active then.
async fn was_active(place: &Place, who: &Principal, time: &str) {
    let (tenant, user, id) = (who.tenant(), who.user().unwrap(), new_id());
    place
        .run(&format!(
            "insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
             values ('{tenant}', '{user}', '{id}', sha256('{id}'), '{id}', '{{}}', '{time}');
             insert into current_snapshots (tenant_id, user_id, index_budget, snapshot_id, revision, rendered_at, used_at)
             values ('{tenant}', '{user}', 1000, '{id}', 0, '{time}', '{time}')"
        ))
        .await;
}

async fn nights(house: &House, time: &str) -> i64 {
    dreams::enqueue_nights(&house.db, DueNights { now: at(time), hours: (3, 7), most: 100 }).await.unwrap()
}

#[tokio::test]
async fn nightly_dreams_begin_once_in_the_users_time_zone() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let (tenancy, other) = (house.tenant().await, house.tenant().await);
        let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
        let idle = tenancy.user("idle").await;
        let nowhere = other.user("nowhere").await;
        for who in [&alice, &bob, &nowhere] {
            was_active(place, who, "2026-11-23T18:00:00Z").await;
        }
        was_active(place, &idle, "2026-11-22T00:00:00Z").await;
        let set = |who: &Principal, zone: &str| {
            let (settings, tenant) = (format!(r#"{{"time_zone": "{zone}"}}"#), who.tenant());
            format!("update tenants set settings = settings || '{settings}' where tenant_id = '{tenant}'")
        };
        place.run(&set(&alice, "America/New_York")).await;
        place.run(&set(&nowhere, "Mars/Olympus")).await;
        let mut tx = WriteTx::begin(&house.db, &bob, "test").await.unwrap();
        let put = PutLearning { time_zone: Some(Some("Pacific/Auckland")), ..PutLearning::default() };
        assert!(dreams::put_learning(&mut tx, &put).await.unwrap());
        tx.commit().await.unwrap();
        let job_of = async |who: &Principal, night: &str| {
            let key = format!("{}:{}:dream_night:{night}", who.tenant(), who.user().unwrap());
            place.count(&format!("select count(*) from graphile_worker._private_jobs where key = '{key}'")).await
        };
        // In Auckland, UTC+13, the 24th begins on the 23rd in UTC.
        assert_eq!(
            (nights(&house, "2026-11-23T13:59:00Z").await, nights(&house, "2026-11-23T14:00:00Z").await),
            (0, 1)
        );
        assert_eq!(job_of(&bob, "2026-11-24").await, 1);
        // An unknown zone is treated as UTC.
        assert_eq!(nights(&house, "2026-11-24T03:00:00Z").await, 1);
        assert_eq!(job_of(&nowhere, "2026-11-24").await, 1);
        assert_eq!(nights(&house, "2026-11-24T08:00:00Z").await, 1);
        assert_eq!(job_of(&alice, "2026-11-24").await, 1);
        // Nightly runs that have begun are not enqueued again, even if their job is gone.
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        assert!(dreams::note_night(&mut tx, "2026-11-24".parse().unwrap()).await.unwrap());
        tx.commit().await.unwrap();
        place.run("delete from graphile_worker._private_jobs").await;
        assert_eq!(nights(&house, "2026-11-24T08:15:00Z").await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_waiting_nightly_job_keeps_its_attempts() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        was_active(place, &alice, &now().to_rfc3339()).await;
        // Every hour counts as night, so that the test can use the clock of the machine, which also dates failures of
        // jobs.
        let due = async |now: DateTime<Utc>| {
            dreams::enqueue_nights(&house.db, DueNights { now, hours: (0, 23), most: 100 }).await.unwrap()
        };
        let night = now();
        assert_eq!((due(night).await, due(night).await), (1, 0));
        let pretend = async |set: &str| place.run(&format!("update graphile_worker._private_jobs set {set}")).await;
        pretend("attempts = 7, last_error = 'no', run_at = now() + interval '1 hour'").await;
        assert_eq!(due(night).await, 0);
        let tried = "select attempts::bigint from graphile_worker._private_jobs";
        assert_eq!(place.count(tried).await, 7);
        // A nightly dream job that failed permanently is enqueued again after six hours.
        pretend("attempts = max_attempts, run_at = now()").await;
        assert_eq!(due(night).await, 0);
        pretend("run_at = now() - interval '7 hours'").await;
        assert_eq!((due(night).await, place.count(tried).await), (1, 0));
    })
    .await;
}

/// Adds a run whose texts are kept until `texts_until`, and returns its id.
async fn run(house: &House, who: &Principal, now: DateTime<Utc>, texts_until: DateTime<Utc>) -> DreamId {
    let id = DreamId(new_id());
    let run = NewRun {
        id,
        pass: RunPass::Gaps,
        cause: Cause::Demand,
        mode: Mode::Propose,
        dry_run: false,
        task: None,
        now,
        texts_until,
    };
    let mut tx = WriteTx::begin(&house.db, who, "test").await.unwrap();
    dreams::add_runs(&mut tx, &[run]);
    tx.commit().await.unwrap();
    id
}

async fn state_of(house: &House, who: &Principal, id: DreamId) -> Option<RunState> {
    dreams::find(&house.db, who, id).await.unwrap().map(|found| found.run.state)
}

#[tokio::test]
async fn runs_without_a_worker_are_ended_after_a_day() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        let (time, day) = (at("2026-11-24T12:00:00Z"), TimeDelta::days(1));
        let lost = run(&house, &alice, time - day - TimeDelta::seconds(1), time + day).await;
        let young = run(&house, &alice, time - day, time + day).await;
        let done = run(&house, &alice, time - day * 2, time + day).await;
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        dreams::end(
            &mut tx,
            done,
            &EndedRun { state: Some(RunState::Planned), now: time - day, ..EndedRun::default() },
        );
        tx.commit().await.unwrap();
        assert_eq!(dreams::end_lost_runs(&house.db, time, 100).await.unwrap(), 1);
        assert_eq!(dreams::end_lost_runs(&house.db, time, 100).await.unwrap(), 0);
        let ended = dreams::find(&house.db, &alice, lost).await.unwrap().unwrap().run;
        assert_eq!((ended.state, ended.finished_at), (RunState::Failed, Some(time)));
        assert!(ended.reason.unwrap().contains("no worker"));
        assert_eq!(state_of(&house, &alice, young).await, Some(RunState::Queued));
        assert_eq!(state_of(&house, &alice, done).await, Some(RunState::Planned));
    })
    .await;
}

#[tokio::test]
async fn expired_runs_and_rests_are_removed() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        let (time, second) = (at("2026-11-24T12:00:00Z"), TimeDelta::seconds(1));
        let old = run(&house, &alice, time - TimeDelta::days(9), time - second).await;
        let kept = run(&house, &alice, time - TimeDelta::days(9), time).await;
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        dreams::put_rests(&mut tx, vec!["over".into()], time - second);
        dreams::put_rests(&mut tx, vec!["rests".into()], time);
        tx.commit().await.unwrap();
        let pruned = prune(&house.db, time, 100).await.unwrap();
        assert_eq!(pruned.dreams, 2);
        assert_eq!(prune(&house.db, time, 100).await.unwrap().dreams, 0);
        assert_eq!(state_of(&house, &alice, old).await, None);
        assert_eq!(state_of(&house, &alice, kept).await, Some(RunState::Queued));
        let resting = dreams::list_resting(&house.db, &alice, time - second * 2).await.unwrap();
        assert_eq!(resting.into_keys().collect::<Vec<_>>(), ["rests"]);
    })
    .await;
}

/// Adds an ended conversation with this taint.
async fn talk(place: &Place, who: &Principal, tainted_by: &str) -> Uuid {
    let (tenant, user, id) = (who.tenant(), who.user().unwrap(), new_id());
    place
        .run(&format!(
            "insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
             values ('{tenant}', '{user}', '{id}', sha256('{id}'), '{id}', '{{}}', now());
             insert into sessions (tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top,
                 snapshot_id, started_at, last_message_at, ended_at, tainted_by)
             values ('{tenant}', '{user}', '{id}', '{id}', 'sms', 10, 16000, false, '{id}', now(), now(), now(),
                     '{tainted_by}')"
        ))
        .await;
    id
}

fn op(kind: &str, sessions: &[Uuid], outcome: OpOutcome) -> NewOp {
    NewOp {
        kind: None,
        op: json!({ "op": kind }),
        outcome,
        rests: false,
        reasons: Vec::new(),
        checks: Vec::new(),
        tainted_by: Vec::new(),
        sessions: sessions.to_vec(),
        bases: BTreeMap::from([("plan".to_owned(), 3)]),
    }
}

async fn propose(house: &House, who: &Principal, ops: &[NewOp]) -> DreamId {
    let id = run(house, who, now(), now() + TimeDelta::days(1)).await;
    let mut tx = WriteTx::begin(&house.db, who, "test").await.unwrap();
    dreams::add_ops(&mut tx, id, ops);
    tx.commit().await.unwrap();
    id
}

/// The conversations may have been tainted after the run.
#[tokio::test]
async fn proposed_operations_show_the_taint_of_their_conversations() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let (clean, one, two) = (
        talk(&house.place, &alice, "{}").await,
        talk(&house.place, &alice, "{a page,a mail}").await,
        talk(&house.place, &alice, "{a page}").await,
    );
    let ops = [
        op("a", &[clean, one, two], OpOutcome::Proposed),
        op("b", &[clean], OpOutcome::Waiting),
        op("c", &[], OpOutcome::Proposed),
        op("d", &[one], OpOutcome::Applied),
    ];
    let id = propose(&house, &alice, &ops).await;
    let listed = dreams::list_ops(&house.db, &alice, id).await.unwrap();
    let tainted: Vec<Vec<&str>> = listed.iter().map(|op| op.tainted_now.iter().map(String::as_str).collect()).collect();
    assert_eq!(tainted, [vec!["a mail", "a page"], vec![], vec![], vec![]]);
    assert_eq!(listed[0].bases["plan"], 3);
}

#[tokio::test]
async fn learned_operations_are_listed_run_by_run() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    let applied = |kind: &str| op(kind, &[], OpOutcome::Applied);
    let first = propose(&house, &alice, &[applied("a"), op("b", &[], OpOutcome::Refused), applied("c")]).await;
    let second = propose(&house, &alice, &[applied("d")]).await;
    let others = propose(&house, &bob, &[applied("e")]).await;
    let learned = dreams::list_learned(&house.db, &alice, &[second, first, others]).await.unwrap();
    let kinds: Vec<&str> = learned.iter().map(|op| op["op"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["d", "a", "c"]);
    assert!(dreams::list_learned(&house.db, &alice, &[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_run_is_locked_and_read_with_its_operations_in_one_round_trip() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let id = propose(&house, &alice, &[op("a", &[], OpOutcome::Proposed)]).await;
    let wire = Wire::to(&house.place.login_url);
    let db = open(&wire.url, 1, 1);
    let lock = async || {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        let found = dreams::lock_with_ops(&mut tx, id).await.unwrap();
        tx.commit().await.unwrap();
        found
    };
    // The first execution prepares each statement.
    lock().await;
    let (flights, (found, ops)) = wire.count(lock()).await;
    assert_eq!((flights, found.run.id, ops.len()), (2, id, 1), "to lock and read, and to commit");
    let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
    let gone = dreams::lock_with_ops(&mut tx, DreamId(new_id())).await;
    assert!(matches!(gone, Err(Error::NotFound { .. })), "{gone:?}");
    drop(tx);
    db.close().await;
}

#[tokio::test]
async fn each_conversation_keeps_its_own_vector() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let (one, two) = (talk(&house.place, &alice, "{}").await, talk(&house.place, &alice, "{}").await);
    let vectors = [(one, vec![0.5, 1.0, 2.0]), (new_id(), vec![9.0, 9.0, 9.0]), (two, vec![4.0, 8.0, 16.0])]
        .map(|(id, vector)| (SessionId(id), vector));
    dreams::put_session_vectors(&house.db, &alice, "model", &vectors).await.unwrap();
    for (session, vector) in [(one, "{0.5,1,2}"), (two, "{4,8,16}")] {
        let kept = format!("embedding::vector::real[] = '{vector}'::real[] and model = 'model'");
        let kept = format!("select count(*) from session_vectors where session_id = '{session}' and {kept}");
        assert_eq!(house.place.count(&kept).await, 1);
    }
    let all = format!("select count(*) from session_vectors where user_id = '{}'", alice.user().unwrap());
    assert_eq!(house.place.count(&all).await, 2);
}
