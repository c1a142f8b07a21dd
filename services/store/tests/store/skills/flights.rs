//! Number of round trips of a change. A connection that is lost between them leaves no partial change.

use knowhow_domain::{Error, Result};
use knowhow_store::sessions::memories;
use knowhow_store::sessions::souls::{self, NewSoul};
use knowhow_store::skills::{self, AdditionalReads, Expected, QueuedChange, SkillKey, SkillState};
use knowhow_store::tenants::idempotency::{self, KeyedRequest};
use knowhow_store::{Database, DatabaseConfig, FrequentStatements, OFTEN_RUN, Principal, WriteTx};
use knowhow_testing::Wire;
use serde_json::json;

use crate::harness::{House, config, now, open, with_database, with_role};
use crate::vault::concurrency::assert_counts;
use crate::writer::{Draft, Save, claim, named, peek, save, save_in};

/// Saves a skill with an idempotency key, as the operations do.
async fn save_with_key(db: &Database, who: &Principal, draft: &Draft<'_>, key: &str) -> Result<QueuedChange> {
    let mut tx = WriteTx::begin(db, who, "test").await?;
    idempotency::claim(&mut tx, KeyedRequest { key, digest: &[1; 32], now: now() });
    let written = save_in(&mut tx, draft).await?;
    assert!(!tx.is_repeated().await?);
    idempotency::answer(&mut tx, key, json!({"kept": true}));
    tx.commit().await?;
    Ok(written)
}

#[tokio::test]
async fn a_change_takes_two_round_trips_and_none_at_release() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let wire = Wire::to(&house.place.login_url);
    let db = open(&wire.url, 1, 1);
    // The first execution prepares each statement.
    save_with_key(&db, &alice, &Draft::text("plan-meeting", "Meet."), "first").await.unwrap();
    save(&db, &alice, &Draft::text("plan-meeting", "Meet again.")).await.unwrap();

    let (flights, saved) = wire.count(save(&db, &alice, &Draft::text("plan-meeting", "Meet soon."))).await;
    assert_eq!((flights, saved.unwrap().version), (2, 3), "a save");
    let (flights, saved) =
        wire.count(save_with_key(&db, &alice, &Draft::text("plan-meeting", "Meet late."), "second")).await;
    assert_eq!((flights, saved.unwrap().version), (2, 4), "a save with a key");
    let (flights, saved) = wire.count(save(&db, &alice, &Draft::text("plan-dinner", "Eat."))).await;
    assert_eq!((flights, saved.unwrap().version), (2, 1), "a new skill");
    // Messages that are on their way when a connection is released are counted by the end of the next save.
    let several = async {
        for text in ["Eat soon.", "Eat late.", "Eat."] {
            save(&db, &alice, &Draft::text("plan-dinner", text)).await.unwrap();
        }
    };
    let (flights, ()) = wire.count(several).await;
    assert_eq!(flights, 6, "at release");

    db.close().await;
}

/// In a read-only transaction Postgres refuses a change, even if its statement is declared as a read.
#[tokio::test]
async fn a_reading_transaction_is_read_only() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    let wire = Wire::watching(&house.place.login_url, "SET LOCAL transaction_read_only = on");
    let db = open(&wire.url, 1, 1);
    let used = skills::LoadUse { session: None, taught_since: None, relations: None, now: now() };
    assert!(skills::load(&db, &alice, &named("plan-meeting"), used).await.unwrap().is_some());
    assert_eq!(wire.seen(), 0, "a load");
    assert!(skills::raw(&db, &alice, &named("plan-meeting")).await.unwrap().is_some());
    assert_eq!(wire.seen(), 1, "a file");
    db.close().await;
}

/// A load with relations uses one connection, one round trip and one statement timeout. If the relations cannot be
/// read, no use is counted.
#[tokio::test]
async fn a_load_with_relations_is_one_transaction() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let alice = house.tenant().await.user("alice").await;
        save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
        let used = skills::LoadUse { session: None, taught_since: None, relations: Some(3), now: now() };
        let key = named("plan-meeting");
        let wire = Wire::watching(&place.login_url, "SET LOCAL statement_timeout = 30000;");
        let db = open(&wire.url, 1, 1);
        skills::load(&db, &alice, &key, used).await.unwrap();
        assert_eq!(wire.seen(), 1);
        let (flights, loaded) = wire.count(skills::load(&db, &alice, &key, used)).await;
        assert_eq!((flights, loaded.unwrap().unwrap().times_used), (1, 2));
        place.run("alter view trusted_relations rename to elsewhere").await;
        assert!(matches!(skills::load(&db, &alice, &key, used).await, Err(Error::Internal(_))));
        place.run("alter view elsewhere rename to trusted_relations").await;
        let (flights, loaded) = wire.count(skills::load(&db, &alice, &key, used)).await;
        assert_eq!((flights, loaded.unwrap().unwrap().times_used), (1, 3));
        db.close().await;
    })
    .await;
}

/// Runs the last statement of each list on a connection that has run another statement before.
#[tokio::test]
async fn a_new_connection_prepares_frequent_statements() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    for (prepares_ahead, to_list, to_save) in [(FrequentStatements::default(), 2, 5), (OFTEN_RUN, 1, 2)] {
        let wire = Wire::to(&house.place.login_url);
        let db = Database::open(&DatabaseConfig { prepares_ahead, ..config(&wire.url, 1, 1) }).unwrap();
        // The second request waits for the only connection until its statements are prepared.
        for _ in 0..2 {
            memories::find_all(&db, &alice, &[]).await.unwrap();
        }
        let asked = skills::SkillListQuery { limit: 10, ..Default::default() };
        let (flights, page) = wire.count(skills::list_page(&db, &alice, &asked)).await;
        assert_eq!((flights, page.unwrap().rows.len()), (to_list, 1), "a list");
        for _ in 0..2 {
            let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
            memories::add(&mut tx, &new_memory()).await.unwrap().unwrap();
            tx.commit().await.unwrap();
        }
        let (flights, saved) = wire.count(save(&db, &alice, &Draft::text("plan-meeting", "Meet again."))).await;
        assert_eq!((flights, saved.is_ok()), (to_save, true), "a save");
        db.close().await;
    }
}

/// Runs work with an idempotency key, and returns whether it was done now and not before.
async fn once<T>(db: &Database, who: &Principal, key: &str, work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>) -> bool {
    let mut tx = WriteTx::begin(db, who, "test").await.unwrap();
    idempotency::claim(&mut tx, KeyedRequest { key, digest: &[1; 32], now: now() });
    let done = work(&mut tx).await;
    if tx.is_repeated().await.unwrap() {
        assert!(done.is_err(), "what is to be rolled back is no answer");
        let kept = idempotency::find_answer(&mut tx, KeyedRequest { key, digest: &[1; 32], now: now() }).await.unwrap();
        assert_eq!(kept, json!({"kept": true}));
        tx.commit().await.unwrap();
        return false;
    }
    done.unwrap();
    idempotency::answer(&mut tx, key, json!({"kept": true}));
    tx.commit().await.unwrap();
    true
}

/// The result of the write decides whether the transaction is committed.
#[tokio::test]
async fn a_write_with_a_result_takes_two_round_trips_even_with_a_key() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let wire = Wire::to(&house.place.login_url);
    let db = open(&wire.url, 1, 1);
    let memory = new_memory();
    let keep = async |tx: &mut WriteTx| memories::add(tx, &memory).await;
    let text = NewSoul { text: "Be brief.", base: None, session: None, named: &[], is_doubtful: false };
    let soul = async |tx: &mut WriteTx| souls::put(tx, &text, now()).await;
    // The first execution prepares each statement.
    assert!(once(&db, &alice, "memory 0", keep).await);
    assert!(once(&db, &alice, "soul 0", soul).await);
    assert!(!once(&db, &alice, "soul 0", soul).await);
    for (what, key) in [("fresh", "memory 1"), ("repeated", "memory 1")] {
        let (flights, is_done) = wire.count(once(&db, &alice, key, keep)).await;
        // A repeated write is rolled back and reads the stored answer, so COMMIT is a third round trip.
        assert_eq!((flights, is_done), if what == "fresh" { (2, true) } else { (3, false) }, "{what}");
    }
    let (flights, _) = wire.count(once(&db, &alice, "soul 1", soul)).await;
    assert_eq!(flights, 2, "a soul");
    let mine = format!("select count(*) from memories where user_id = '{}'", alice.user().unwrap().0);
    assert_eq!(house.place.count(&mine).await, 2, "what was repeated left nothing");
    let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
    let (flights, _) = wire
        .count(async {
            keep(&mut tx).await.unwrap().unwrap();
            tx.commit().await.unwrap();
        })
        .await;
    assert_eq!(flights, 2, "a memory without a key");
    db.close().await;
}

#[tokio::test]
async fn many_skills_are_locked_in_one_round_trip_and_written_in_another() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let wire = Wire::to(&house.place.login_url);
    let db = open(&wire.url, 1, 1);
    let names: Vec<String> = (0..20).map(|n| format!("skill-{n}")).collect();
    let keys: Vec<SkillKey> = names.iter().map(|name| named(name)).collect();
    let import = async |body: &str| {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        let locked = skills::lock_all(&mut tx, &keys, &AdditionalReads::default()).await.unwrap();
        for (name, locked) in names.iter().zip(locked) {
            let base = locked.map(|locked| locked.skill);
            Save::over(&Draft::text(name, body), base.as_ref()).write(&mut tx).unwrap();
        }
        tx.commit().await.unwrap();
    };
    import("One.").await;
    import("Two.").await;
    let (flights, ()) = wire.count(import("Three.")).await;
    assert_eq!(flights, 2);
    assert_counts(&house, &alice).await;
    assert_eq!(peek(&db, &alice, "skill-19").await.unwrap().skill.version, 3);
    db.close().await;
}

/// A cached skill is checked together with the change, in one round trip.
#[tokio::test]
async fn a_change_of_a_cached_skill_takes_one_round_trip_or_has_no_effect() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let wire = Wire::to(&house.place.login_url);
    let db = open(&wire.url, 1, 1);
    save(&db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    let change = async |base: &SkillState, body: &str, used: Option<i64>| {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        tx.lock_unread();
        let expected = Expected { most_bytes: 1 << 30, most_stored_bytes: 1 << 30, used: used.map(|n| (n, None)) };
        Save::over(&Draft::text("plan-meeting", body), Some(base)).write_expecting(&mut tx, &expected).unwrap();
        tx.commit_unless_refused().await.unwrap()
    };
    let base = async || peek(&db, &alice, "plan-meeting").await.unwrap().skill;
    assert!(change(&base().await, "Meet again.", Some(0)).await);
    let stale = base().await;
    let (flights, is_kept) = wire.count(change(&stale, "Meet soon.", Some(0))).await;
    assert_eq!((flights, is_kept), (1, true));
    assert!(!change(&stale, "Never.", None).await, "the version is another");
    let current = base().await;
    assert!(!change(&current, "Never.", Some(1)).await, "the skill was not used");
    let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
    skills::set_flags(&mut tx, current.id, true, now());
    tx.commit().await.unwrap();
    assert!(!change(&current, "Never.", None).await, "it is pinned by now");
    let pinned = base().await;
    assert_eq!((pinned.version, pinned.content(), pinned.pinned), (3, "Meet soon.\n", true));
    assert!(change(&pinned, "Meet late.", None).await);
    assert_counts(&house, &alice).await;
    db.close().await;
}

pub fn new_memory() -> memories::NewMemory<'static> {
    memories::NewMemory {
        conversation: None,
        kind: knowhow_domain::MemoryKind::Semantic,
        content: "Prefers trains.",
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

/// The connection breaks as if the process was killed: Postgres receives no more messages.
#[tokio::test]
async fn a_connection_lost_between_round_trips_leaves_no_change() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let wire = Wire::to(&house.place.login_url);
    let db = open(&wire.url, 1, 1);
    save(&db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    for keyed in [false, true] {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        if keyed {
            idempotency::claim(&mut tx, KeyedRequest { key: "key", digest: &[1; 32], now: now() });
        }
        save_in(&mut tx, &Draft::text("plan-meeting", "Never.")).await.unwrap();
        wire.break_off();
        assert_eq!(tx.commit().await.unwrap_err().code(), "unavailable");
        // The lock is free again, and the pool has a usable connection.
        let written = save(&db, &alice, &Draft::text("plan-meeting", &format!("After {keyed}."))).await.unwrap();
        assert_eq!(written.version, if keyed { 3 } else { 2 });
    }
    let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
    assert_eq!(claim(&mut tx, "key", 2, now()).await.unwrap(), None, "the key is free");
    drop(tx);
    assert_counts(&house, &alice).await;
    db.close().await;
}

#[tokio::test]
async fn a_failed_pipelined_write_has_no_effect_and_frees_its_connection() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    with_role(&house.place, "", async |role, url| {
        let db = open(url, 1, 1);
        let id = save(&db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
        let backend = format!("select pid::bigint from pg_stat_activity where usename = '{role}'");
        let before = house.place.count(&backend).await;
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        idempotency::claim(&mut tx, KeyedRequest { key: "key", digest: &[1; 32], now: now() });
        save_in(&mut tx, &Draft::text("plan-meeting", "Never.")).await.unwrap();
        // The service never does this while the row of the user is locked. The statement stands for a program that
        // ignores the lock.
        house.place.run(&format!("update skills set version = 7 where skill_id = '{}'", id.0)).await;
        idempotency::answer(&mut tx, "key", json!({"kept": true}));
        assert_eq!(tx.commit().await.unwrap_err().code(), "internal");
        let counts = format!(
            "select (select count(*) from skill_versions where skill_id = '{0}') * 100
                  + (select count(*) from idempotency_keys where user_id = '{1}') * 10
                  + (select count(*) from skills where skill_id = '{0}' and version = 7)",
            id.0,
            alice.user().unwrap().0
        );
        assert_eq!(house.place.count(&counts).await, 101);
        save(&db, &alice, &Draft::text("plan-dinner", "Eat.")).await.unwrap();
        assert_eq!(house.place.count(&backend).await, before, "the connection was closed");
        db.close().await;
    })
    .await;
}

/// A refused request has only read data.
#[tokio::test]
async fn a_dropped_transaction_releases_its_connection_and_lock() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let db = open(&house.place.login_url, 1, 1);
    save(&db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    for _ in 0..3 {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        skills::lock(&mut tx, &named("plan-meeting")).await.unwrap().unwrap();
        save_in(&mut tx, &Draft::text("plan-meeting", "Never.")).await.unwrap();
    }
    save(&db, &alice, &Draft::text("plan-meeting", "Meet again.")).await.unwrap();
    assert_eq!(peek(&db, &alice, "plan-meeting").await.unwrap().skill.version, 2);
    db.close().await;
}
