//! Starters by reference: new releases, and references restored from the archive.

use knowhow_store::skills::{self, NewRestore};
use knowhow_store::{Principal, TenantTx, Window};
use sqlx::{AssertSqlSafe, Executor};

use super::starters::{body, history, own_names, publish, settle, states, sync};
use crate::harness::{House, now};
use crate::writer::{Draft, Keep, delete, document, peek, save};

#[tokio::test]
async fn a_release_updates_only_unchanged_starters() {
    let house = House::open().await;
    let names: [String; 5] = own_names();
    let [kept, changed, gone, own, new] = &names;
    let tenancy = house.tenant().await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    save(&house.db, &alice, &Draft::text(own, "Mine from before.")).await.unwrap();
    let first = publish(&house, &[(kept, "1"), (changed, "1"), (gone, "1"), (own, "1")]).await;
    sync(&house, &alice, &first).await;
    sync(&house, &bob, &first).await;
    save(&house.db, &alice, &Draft::text(changed, "Mine.")).await.unwrap();
    assert!(delete(&house.db, &alice, gone, Keep::a_month()).await.unwrap());
    assert!(delete(&house.db, &alice, own, Keep::a_month()).await.unwrap());
    let second = publish(&house, &[(kept, "2"), (changed, "2"), (gone, "2"), (own, "2"), (new, "2")]).await;
    for user in [&alice, &bob] {
        sync(&house, user, &second).await;
        sync(&house, user, &second).await;
    }
    let read = async |user: &Principal, name: &str| peek(&house.db, user, name).await.map(|l| l.skill);
    let text = |name: &str, text: &str| body(name, text).raw().to_owned();
    assert_eq!(read(&alice, kept).await.map(|s| (s.version, s.document)), Some((2, text(kept, "2"))));
    assert_eq!(read(&alice, new).await.map(|s| (s.version, s.document)), Some((1, text(new, "2"))));
    assert_eq!(read(&alice, changed).await.unwrap().document, document(changed, "Mine.").raw());
    assert!(read(&alice, gone).await.is_none() && read(&alice, own).await.is_none());
    let past: Vec<_> = history(&house, &alice, kept).await.into_iter().map(|(v, c, t, _)| (v, c, t)).collect();
    assert_eq!(past, [(2, "sync".into(), text(kept, "2")), (1, "sync".into(), text(kept, "1"))]);
    // One audit entry for each release that changed a starter, however many starters it changed.
    for (user, expected) in [(&alice, 2), (&bob, 1)] {
        let lines = format!(
            "select count(*) from audit_log where action = 'skill.sync' and user_id = '{}'",
            user.user().unwrap().0
        );
        assert_eq!(house.place.count(&lines).await, expected);
    }
    // A user without rows for the starters has the same history.
    assert_eq!(read(&bob, gone).await.map(|s| (s.version, s.document)), Some((2, text(gone, "2"))));
    assert_eq!(history(&house, &bob, gone).await.len(), 2);
    // The counts equal the stored rows.
    for user in [&alice, &bob] {
        let (id, states) = (user.user().unwrap().0, states(&house, user).await);
        let bytes: i64 = states.iter().map(|s| s["document_bytes"].as_i64().unwrap()).sum();
        let count = |column| format!("select {column}::bigint from user_catalogs where user_id = '{id}'");
        assert_eq!(house.place.count(&count("skill_count")).await, i64::try_from(states.len()).unwrap());
        assert_eq!(house.place.count(&count("byte_count")).await, bytes);
    }
}

#[tokio::test]
async fn a_deleted_reference_is_restored_from_the_archive_with_its_history() {
    let house = House::open().await;
    let [a, b] = &own_names();
    let release = publish(&house, &[(a, "First."), (b, "Second.")]).await;
    let tenancy = house.tenant().await;
    let (alice, admin) = (tenancy.user("alice").await, tenancy.admin().await);
    sync(&house, &alice, &release).await;
    let before = states(&house, &alice).await;
    let user = alice.user().unwrap();
    let counts = format!("select skill_count * 100000 + byte_count from user_catalogs where user_id = '{}'", user.0);
    let counted = house.place.count(&counts).await;
    assert!(delete(&house.db, &alice, a, Keep::a_month()).await.unwrap());
    assert_eq!(states(&house, &alice).await, before[1..]);
    sync(&house, &alice, &release).await;
    assert_eq!(states(&house, &alice).await, before[1..]);
    let mut tx = TenantTx::begin_admin(&house.db, &admin, user, "test").await.unwrap();
    let archived = skills::list_archive(&mut tx, None, Window { behind: None, limit: 10 }, now()).await.unwrap();
    assert_eq!((archived.len(), archived[0].versions), (1, 1));
    skills::restore(&mut tx, &NewRestore { archive: archived[0].id, reason: "test", tasks: &[] }, now()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(states(&house, &alice).await, before);
    assert_eq!(house.place.count(&counts).await, counted);
    assert_eq!(history(&house, &alice, a).await.len(), 1);
    // Destroying a starter of one user removes no text that other skills read.
    assert!(delete(&house.db, &alice, b, Keep::Nothing).await.unwrap());
    assert_eq!(peek(&house.db, &alice, a).await.unwrap().skill.document, body(a, "First.").raw());
}

#[tokio::test]
async fn a_reference_must_be_to_an_existing_starter_of_that_name() {
    let house = House::open().await;
    let [a, b] = &own_names();
    let release = publish(&house, &[(a, "First."), (b, "Second.")]).await;
    let alice = house.tenant().await.user("alice").await;
    sync(&house, &alice, &release).await;
    settle(&house, &alice).await;
    let user = alice.user().unwrap().0;
    let other = format!("(select starter_id from starter_texts where name = '{b}')");
    let is_a = format!("where user_id = '{user}' and name = '{a}'");
    for (statement, code) in [
        (format!("update skills set starter_id = {other} {is_a}"), "23503"),
        (format!("update skills set starter_id = 0 {is_a}"), "23503"),
        (format!("update skills set starter_id = null {is_a}"), "23514"),
        (format!("update skills set description = 'x' {is_a}"), "23514"),
        (format!("delete from builtin_texts where name = '{a}'"), "23503"),
        (format!("update builtin_texts set document = 'x' where name = '{a}'"), "23514"),
    ] {
        let refused = house.place.owner().await.execute(AssertSqlSafe(statement.clone())).await.unwrap_err();
        assert_eq!(refused.as_database_error().and_then(|e| e.code()).as_deref(), Some(code), "{statement}: {refused}");
    }
}
