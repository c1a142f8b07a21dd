//! Which of two renderings is the current one.

use knowhow_domain::{Form, MemoryKind};
use knowhow_store::memories::{self, NewMemory};
use knowhow_store::snapshots::{self, NewSnapshot, SnapshotKind};
use knowhow_store::souls::{self, NewSoul};
use knowhow_store::{Principal, WriteTx};
use serde_json::Value;

use crate::harness::{House, now};
use crate::writer::{Draft, save};

const KIND: SnapshotKind = SnapshotKind { index_budget: 1000, form: Form::FULL };

/// Whatever of a user's a snapshot shows, a rendering that was begun before it was written and is kept last must not take
/// the place of one that knows it.
#[tokio::test]
async fn what_was_read_earlier_replaces_nothing_of_later() {
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

/// Each kind is rendered anew all day, so a user has few of them.
#[tokio::test]
async fn few_kinds_of_a_user_are_kept_current() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let current = async || {
        let user = alice.user().unwrap().0;
        house.place.count(&format!("select count(*) from current_snapshots where user_id = '{user}'")).await
    };
    let render = async |index_budget: i32, form: Form, is_alone: bool| {
        let kind = SnapshotKind { index_budget, form };
        let new = NewSnapshot { is_alone, ..snapshot("text", 0) };
        snapshots::put(&house.db, &alice, kind, &new).await.unwrap();
    };
    let short = Form { short: true, ..Form::FULL };
    for budget in 1000..1010 {
        render(budget, Form::FULL, false).await;
        render(budget, short, false).await;
    }
    assert_eq!(current().await, 4);
    assert!(
        snapshots::find_current(&house.db, &alice, SnapshotKind { index_budget: 1009, form: short }, now())
            .await
            .unwrap()
            .is_some()
    );
    render(1009, Form::FULL, true).await;
    assert_eq!(current().await, 1);
}

async fn write(house: &House, alice: &Principal, part: &str) {
    let mut tx = WriteTx::begin(&house.db, alice, "test").await.unwrap();
    match part {
        "soul" => drop(
            souls::put(&mut tx, &NewSoul { text: "Be brief.", base: None, session: None, named: &[] }, now())
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
        kind: MemoryKind::Semantic,
        content: "Lives in Rome",
        tags: &[],
        importance: 0.5,
        core: true,
        session: None,
        named: &[],
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
        sha256: knowhow_domain::manifest::digest(text.as_bytes()),
        text,
        omitted: NOTHING,
        revision,
        now: now(),
        is_asked: true,
        is_alone: false,
    }
}
