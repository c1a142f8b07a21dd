//! Choice of the current snapshot from two renderings.

use chrono::TimeDelta;
use knowhow_domain::{MemoryKind, SnapshotForm};
use knowhow_store::across::due::{self, RenewedSnapshots};
use knowhow_store::sessions::memories::{self, NewMemory};
use knowhow_store::sessions::snapshots::{self, NewSnapshot, SnapshotKind};
use knowhow_store::sessions::souls::{self, NewSoul};
use knowhow_store::{Principal, WriteTx};
use knowhow_testing::poll_async;
use serde_json::Value;
use sqlx::Executor;

use crate::harness::{House, now};
use crate::writer::{Draft, save};

const KIND: SnapshotKind = SnapshotKind { index_budget: 1000, form: SnapshotForm::FULL };

/// A rendering that began before a change, and is stored last, must not replace a newer one.
#[tokio::test]
async fn an_older_rendering_does_not_replace_a_newer_one() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    for part in ["skill", "soul", "memory"] {
        let early = snapshots::read_parts(&house.db, &alice).await.unwrap();
        write(&house, &alice, part).await;
        let late = snapshots::read_parts(&house.db, &alice).await.unwrap();
        assert!(early.revision < late.revision, "{part}");
        put(&house, &alice, &format!("with the {part}"), late.revision).await;
        put(&house, &alice, &format!("without the {part}"), early.revision).await;
        let current = snapshots::find_current(&house.db, &alice, KIND, now()).await.unwrap().unwrap();
        assert_eq!(current.snapshot.text, format!("with the {part}"));
    }
}

/// Each kind is rendered again all day, so a user may have only a few kinds.
#[tokio::test]
async fn a_user_has_few_kinds_of_current_snapshots() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let current = async || {
        let user = alice.user().unwrap().0;
        house.place.count(&format!("select count(*) from current_snapshots where user_id = '{user}'")).await
    };
    let render = async |index_budget: i32, form: SnapshotForm, is_alone: bool| {
        let kind = SnapshotKind { index_budget, form };
        let new = NewSnapshot { is_alone, ..snapshot("text", 0) };
        snapshots::put(&house.db, &alice, kind, &new).await.unwrap();
    };
    let short = SnapshotForm { short: true, ..SnapshotForm::FULL };
    for budget in 1000..1010 {
        render(budget, SnapshotForm::FULL, false).await;
        render(budget, short, false).await;
    }
    assert_eq!(current().await, 4);
    assert!(
        snapshots::find_current(&house.db, &alice, SnapshotKind { index_budget: 1009, form: short }, now())
            .await
            .unwrap()
            .is_some()
    );
    render(1009, SnapshotForm::FULL, true).await;
    assert_eq!(current().await, 1);
}

/// A snapshot that would be rendered to the same text costs no job.
#[tokio::test]
async fn snapshots_with_unchanged_inputs_are_prolonged_together() {
    crate::harness::with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        let mut users = Vec::new();
        for name in ["same", "also-same", "changed", "used", "talked", "marked", "other-build"] {
            let user = tenancy.user(name).await;
            write(&house, &user, "skill").await;
            let revision = snapshots::read_parts(&house.db, &user).await.unwrap().revision;
            put(&house, &user, name, revision).await;
            users.push(user.user().unwrap().0);
        }
        let lifetime = TimeDelta::minutes(30);
        let age = "update current_snapshots set rendered_at = now() - interval '29 minutes'";
        house.place.run(age).await;
        house.place.run("update conversation_summaries set made_at = now() - interval '1 day'").await;
        let touch = async |sql: &str, user: usize| {
            house.place.run(&sql.replace("$user", &format!("user_id = '{}'", users[user]))).await;
        };
        touch("update user_catalogs set revision = revision + 1 where $user", 2).await;
        touch("update skill_usage set last_used_at = now() where $user", 3).await;
        let tenant = tenancy.id.0;
        let session = format!(
            "insert into conversation_summaries (tenant_id, user_id, session_id, title, summary, made_by, terms, channel,
                 started_at, ended_at)
             values ('{tenant}', '{}', '{tenant}', 'Talk', '{{}}', 'extract', '{{}}', 'chat', now(), now())",
            users[4]
        );
        house.place.run(&session).await;
        touch("update user_catalogs set marked_at = now() where $user", 5).await;
        // Another build of the same version, which may render other text.
        let version = env!("CARGO_PKG_VERSION");
        touch(&format!("update current_snapshots set rendered_by = '{version}' where $user"), 6).await;
        let renewed = due::renew_snapshots(&house.db, lifetime, now(), 100).await.unwrap();
        assert_eq!(renewed, RenewedSnapshots { prolonged: 2, enqueued: 5 });
        let young = "select count(*) from current_snapshots where rendered_at > now() - interval '1 minute'";
        assert_eq!(house.place.count(young).await, 2);
        let again = due::renew_snapshots(&house.db, lifetime, now(), 100).await.unwrap();
        assert_eq!(again, RenewedSnapshots { prolonged: 0, enqueued: 0 }, "nothing is due twice");
    })
    .await;
}

/// Enqueueing many jobs takes a while. Requests for a prolonged snapshot must not wait for it.
#[tokio::test]
async fn no_snapshot_is_locked_while_others_are_enqueued() {
    crate::harness::with_database(async |place| {
        let house = House::at(place, 2, 1);
        let tenancy = house.tenant().await;
        for name in ["same", "changed"] {
            let user = tenancy.user(name).await;
            write(&house, &user, "skill").await;
            let revision = snapshots::read_parts(&house.db, &user).await.unwrap().revision;
            put(&house, &user, name, revision).await;
        }
        let change = "update user_catalogs set revision = revision + 1 where user_id in
            (select user_id from users where external_id = 'changed')";
        place.run(change).await;
        place.run("update current_snapshots set rendered_at = now() - interval '29 minutes'").await;
        let mut owner = place.owner().await;
        owner.execute("begin; update current_snapshots set used_at = now()").await.unwrap();
        let renew = due::renew_snapshots(&house.db, TimeDelta::minutes(30), now(), 100);
        let look = async {
            let waiting = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
            let waits = format!("select count(*) from {waiting}");
            poll_async("the snapshot", async || (place.count(&waits).await > 0).then_some(())).await;
            let enqueues = format!(
                "select count(*) from pg_locks where pid in (select pid from {waiting})
                    and relation = 'graphile_worker._private_jobs'::regclass and mode = 'RowExclusiveLock'"
            );
            assert_eq!(place.count(&enqueues).await, 1, "it waits before it has enqueued the other");
            owner.execute("commit").await.unwrap();
        };
        let (renewed, ()) = tokio::join!(renew, look);
        assert_eq!(renewed.unwrap(), RenewedSnapshots { prolonged: 1, enqueued: 1 });
    })
    .await;
}

async fn write(house: &House, alice: &Principal, part: &str) {
    let mut tx = WriteTx::begin(&house.db, alice, "test").await.unwrap();
    match part {
        "soul" => drop(
            souls::put(
                &mut tx,
                &NewSoul { text: "Be brief.", base: None, session: None, named: &[], is_doubtful: false },
                now(),
            )
            .await
            .unwrap()
            .unwrap(),
        ),
        "memory" => drop(memories::add(&mut tx, &core_memory()).await.unwrap().unwrap()),
        _ => drop(save(&house.db, alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap()),
    }
    tx.commit().await.unwrap();
}

fn core_memory() -> NewMemory<'static> {
    NewMemory {
        conversation: None,
        kind: MemoryKind::Semantic,
        content: "Lives in Rome",
        tags: &[],
        importance: 0.5,
        core: true,
        session: None,
        named: &[],
        is_doubtful: false,
        embedding: None,
        now: now(),
    }
}

async fn put(house: &House, alice: &Principal, text: &str, revision: i64) {
    snapshots::put(&house.db, alice, KIND, &snapshot(text, revision)).await.unwrap();
}

fn snapshot(text: &str, revision: i64) -> NewSnapshot<'_> {
    const NOTHING: &Value = &Value::Null;
    NewSnapshot {
        sha256: knowhow_domain::skills::manifest::digest(text.as_bytes()),
        text,
        omitted: NOTHING,
        revision,
        now: now(),
        is_asked: true,
        is_alone: false,
    }
}
