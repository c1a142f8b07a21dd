//! Deletion of data at the end of its retention.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_store::tenants::idempotency::KeyedRequest;
use knowhow_store::tenants::usage::Use;
use knowhow_store::tenants::{idempotency, usage};
use knowhow_store::{Principal, Pruned, WriteTx, prune};

use super::archive::archive_of;
use super::retention::is_stored;
use crate::harness::{House, now, with_database};
use crate::vault::concurrency::assert_counts;
use crate::writer::{Draft, Keep, delete, peek, save, save_in};

#[tokio::test]
async fn pruning_removes_expired_data_and_nothing_else() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        let at = now() + TimeDelta::hours(1);
        let due: &[(&str, &[u8])] =
            &[("references/due.md", b"due"), ("references/live.md", b"live"), ("references/kept.md", b"kept")];
        save(&house.db, &alice, &Draft { name: "due", body: "Due.", files: due }).await.unwrap();
        save(&house.db, &alice, &Draft { name: "live", body: "Live.", files: &due[1..2] }).await.unwrap();
        save(&house.db, &alice, &Draft { name: "kept", body: "Kept.", files: &due[2..] }).await.unwrap();
        delete(&house.db, &alice, "due", Keep::Until(at)).await.unwrap();
        delete(&house.db, &alice, "kept", Keep::Until(at + TimeDelta::seconds(1))).await.unwrap();

        let nothing = prune(&house.db, at - TimeDelta::seconds(1), 100).await.unwrap();
        assert_eq!(nothing, Pruned::default());
        let pruned = prune(&house.db, at, 100).await.unwrap();
        assert_eq!(pruned, Pruned { archived_skills: 1, files: 2, ..Pruned::default() });
        assert_eq!(archive_of(&house, &tenancy).await.iter().map(|(_, n)| n.as_str()).collect::<Vec<_>>(), ["kept"]);
        for (bytes, stays) in [(&b"due"[..], false), (b"live", true), (b"kept", true)] {
            assert_eq!(is_stored(&house, &alice, bytes).await, stays);
        }
        assert_counts(&house, &alice).await;
    })
    .await;
}

async fn claim(house: &House, alice: &Principal, key: &str, at: DateTime<Utc>) {
    let mut tx = WriteTx::begin(&house.db, alice, "test").await.unwrap();
    idempotency::claim(&mut tx, KeyedRequest { key, digest: &[1; 32], now: at });
    assert!(!tx.is_repeated().await.unwrap());
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn pruning_removes_expired_rows_in_batches() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        let at = now();
        let (day, month) = (TimeDelta::hours(24), TimeDelta::days(30));
        for (key, age) in [("new", day), ("old", day + TimeDelta::seconds(1)), ("older", day * 2)] {
            claim(&house, &alice, key, at - age).await;
        }
        let skill = save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
        for (session, age) in [("new", month), ("old", month + TimeDelta::seconds(1)), ("older", month * 2)] {
            let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
            let used =
                Use { skill, version: 1, session_key: Some(session), memory_id: None, outcome: None, now: at - age };
            usage::count(&mut tx, &used).await.unwrap();
            tx.commit().await.unwrap();
        }
        let counts = peek(&house.db, &alice, "plan-meeting").await.unwrap().times_used;
        let days = format!(
            "insert into usage_days (tenant_id, user_id, day, skill_id, times, successes, failures, partials)
             select tenant_id, user_id, ('{at}'::timestamptz at time zone 'UTC')::date - n, '{}', 1, 0, 0, 0
             from users, generate_series(399, 402) n",
            skill.0
        );
        place.run(&days).await;
        let offers = format!(
            "insert into skill_offers (tenant_id, user_id, day, skill_id, offered)
             select tenant_id, user_id, ('{at}'::timestamptz at time zone 'UTC')::date - n, '{}', 1
             from users, generate_series(399, 402) n",
            skill.0
        );
        place.run(&offers).await;
        let judged = format!(
            "insert into judge_usage (tenant_id, user_id, day, questions, tokens)
             select tenant_id, user_id, ('{at}'::timestamptz at time zone 'UTC')::date - n, 1, 700
             from users, generate_series(399, 402) n"
        );
        place.run(&judged).await;
        for _ in 0..2 {
            let pruned = prune(&house.db, at, 1).await.unwrap();
            assert_eq!(
                pruned,
                Pruned { idempotency_keys: 1, usage_days: 1, offers: 1, judge_days: 1, ..Pruned::default() }
            );
        }
        assert_eq!(prune(&house.db, at, 1).await.unwrap(), Pruned::default());
        assert_eq!(peek(&house.db, &alice, "plan-meeting").await.unwrap().times_used, counts);
        assert_eq!(place.count("select count(*) from usage_days").await, 2);
        assert_eq!(place.count("select count(*) from skill_offers").await, 2);
        assert_eq!(place.count("select count(*) from judge_usage").await, 2);
        assert_eq!(place.count("select count(*) from usage_events").await, 3);
        assert_eq!(place.count("select count(*) from idempotency_keys where key = 'new'").await, 1);
    })
    .await;
}

#[tokio::test]
async fn ended_console_sessions_are_deleted() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        house.tenant().await.user("alice").await;
        let sessions =
            "insert into console_sessions (tenant_id, user_id, secret_hash, scopes, issuer_id, created_at, used_at, ends_at)
            select tenant_id, user_id, sha256(n::text::bytea), '{}', user_id, now(), now(), now() + n * interval '1 hour'
            from users, generate_series(-2, 2) n where n <> 0";
        place.run(sessions).await;
        let pruned = prune(&house.db, now(), 100).await.unwrap();
        assert_eq!(pruned, Pruned { console_sessions: 2, ..Pruned::default() });
        assert_eq!(place.count("select count(*) from console_sessions where ends_at > now()").await, 2);
    })
    .await;
}

/// The removal of deleted skills must not depend on another statement that fails each time.
#[tokio::test]
async fn pruning_continues_after_a_failed_statement() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        save(&house.db, &alice, &Draft::text("due", "Due.")).await.unwrap();
        delete(&house.db, &alice, "due", Keep::Until(now())).await.unwrap();
        place.run("revoke delete on idempotency_keys, usage_days from knowhow_system").await;
        assert!(prune(&house.db, now(), 100).await.is_err());
        assert!(archive_of(&house, &tenancy).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn pruning_never_leaves_an_entry_without_its_files() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenancy = house.tenant().await;
        let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
        let files: &[(&str, &[u8])] = &[("references/shared.md", b"shared")];
        let at = now();
        for (user, name) in [(&alice, "one"), (&alice, "two"), (&bob, "one")] {
            save(&house.db, user, &Draft { name, body: "Meet.", files }).await.unwrap();
            delete(&house.db, user, name, Keep::Until(at)).await.unwrap();
        }
        let mut removed = 0;
        while removed < 3 {
            let pruned = prune(&house.db, at, 1).await.unwrap();
            assert!(pruned.archived_skills > 0);
            removed += pruned.archived_skills;
            assert_counts(&house, &alice).await;
            assert_counts(&house, &bob).await;
        }
        assert_eq!(prune(&house.db, at, 1).await.unwrap(), Pruned::default());
    })
    .await;
}

#[tokio::test]
async fn pruning_keeps_a_file_that_a_concurrent_save_uses() {
    with_database(async |place| {
        let house = House::at(place, 4, 2);
        let alice = house.tenant().await.user("alice").await;
        let files: &[(&str, &[u8])] = &[("references/shared.md", b"shared")];
        let at = now();
        save(&house.db, &alice, &Draft { name: "old", body: "Old.", files }).await.unwrap();
        delete(&house.db, &alice, "old", Keep::Until(at)).await.unwrap();

        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        save_in(&mut tx, &Draft { name: "new", body: "New.", files }).await.unwrap();
        let db = house.db.clone();
        let clearing = tokio::spawn(async move { prune(&db, at, 100).await });
        let waiting = "select count(*) from pg_stat_activity
            where datname = current_database() and usename = 'knowhow_login' and wait_event_type = 'Lock'";
        // Pruning either ends independently of the writer, or waits for it.
        while !clearing.is_finished() && place.count(waiting).await == 0 {}
        tx.commit().await.unwrap();
        assert_eq!(clearing.await.unwrap().unwrap().archived_skills, 1);
        assert!(is_stored(&house, &alice, b"shared").await, "the new skill's file is gone");
        assert_counts(&house, &alice).await;
    })
    .await;
}
