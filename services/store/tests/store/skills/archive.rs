//! Restoring and destroying deleted skills.

use chrono::TimeDelta;
use knowhow_domain::{ArchiveId, TenantSettings, new_id};
use knowhow_store::skills::{self, Archived, LoadUse, NewRestore, versions};
use knowhow_store::{TenantTx, Window, WriteTx};

use super::retention::is_stored;
use crate::harness::{House, Tenancy, now};
use crate::vault::concurrency::assert_counts;
use crate::writer::{Draft, Keep, delete, named, peek, save, save_in};

/// Returns every archived entry of a tenant, newest first, as id and name.
pub(super) async fn archive_of(house: &House, tenancy: &Tenancy<'_>) -> Vec<(ArchiveId, String)> {
    let admin = tenancy.admin().await;
    let mut tx = TenantTx::begin_admin(&house.db, &admin, knowhow_domain::UserId::TENANT_WIDE, "test").await.unwrap();
    let entries = skills::list_archive(&mut tx, None, Window { behind: None, limit: 100 }, now()).await.unwrap();
    entries.into_iter().map(|e| (e.id, e.name)).collect()
}

pub(super) async fn restore(house: &House, tenancy: &Tenancy<'_>, entry: ArchiveId) -> knowhow_domain::Result<String> {
    let admin = tenancy.admin().await;
    let mut tx = TenantTx::begin_admin(&house.db, &admin, knowhow_domain::UserId::TENANT_WIDE, "test").await?;
    let owner = skills::find_archive_owner(&mut tx, entry, now()).await?.unwrap();
    drop(tx);
    let mut tx = TenantTx::begin_admin(&house.db, &admin, owner, "test").await?;
    let name = skills::restore(&mut tx, &NewRestore { archive: entry, reason: "test", tasks: &[] }, now()).await?;
    tx.commit().await?;
    Ok(name)
}

#[tokio::test]
async fn a_deleted_skill_is_restored_whole() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    let files: &[(&str, &[u8])] = &[("references/api.md", b"the api")];
    save(&house.db, &alice, &Draft::text("plan-meeting", "First.")).await.unwrap();
    save(&house.db, &alice, &Draft { name: "plan-meeting", body: "Second.", files }).await.unwrap();
    let before = skills::load(
        &house.db,
        &alice,
        &named("plan-meeting"),
        LoadUse { session: None, taught_since: None, relations: None, now: now() },
    )
    .await
    .unwrap()
    .unwrap();
    assert!(delete(&house.db, &alice, "plan-meeting", Keep::a_month()).await.unwrap());
    assert!(!delete(&house.db, &alice, "plan-meeting", Keep::a_month()).await.unwrap());

    assert!(peek(&house.db, &alice, "plan-meeting").await.is_none());
    let page = skills::list_page(&house.db, &alice, &skills::SkillListQuery { limit: 10, ..Default::default() }).await;
    assert!(page.unwrap().rows.is_empty());
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    assert!(versions::list(&mut tx, before.skill.id, None, 10).await.unwrap().is_empty());
    drop(tx);
    assert_counts(&house, &alice).await;

    let archive = archive_of(&house, &tenancy).await;
    assert_eq!(archive.len(), 1);
    assert_eq!(restore(&house, &tenancy, archive[0].0).await.unwrap(), "plan-meeting");
    let after = peek(&house.db, &alice, "plan-meeting").await.unwrap();
    assert_eq!((after.skill.id, after.skill.version), (before.skill.id, 2));
    assert_eq!(after.skill.document, before.skill.document);
    assert_eq!(after.skill.digest, before.skill.digest);
    assert_eq!(after.skill.resources, before.skill.resources);
    assert_eq!((before.times_used, after.times_used), (1, 0));
    let api = skills::find_resource(&house.db, &alice, &named("plan-meeting"), "references/api.md").await.unwrap();
    assert_eq!(api.unwrap().content, b"the api");
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    let first = versions::find(&mut tx, after.skill.id, 1).await.unwrap().unwrap();
    assert!(first.document.ends_with("First.\n"));
    drop(tx);
    assert_counts(&house, &alice).await;
    assert!(archive_of(&house, &tenancy).await.is_empty());
}

#[tokio::test]
async fn a_restore_does_not_overwrite_a_new_skill_of_that_name() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    save(&house.db, &alice, &Draft::text("plan-meeting", "Old.")).await.unwrap();
    delete(&house.db, &alice, "plan-meeting", Keep::a_month()).await.unwrap();
    let entry = archive_of(&house, &tenancy).await[0].0;

    // A save of that name is in progress. The restore waits for it, and then finds the name taken.
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    save_in(&mut tx, &Draft::text("plan-meeting", "New.")).await.unwrap();
    let (restored, committed) = tokio::join!(restore(&house, &tenancy, entry), tx.commit());
    committed.unwrap();
    assert_eq!(restored.unwrap_err().code(), "name-taken");
    assert_eq!(restore(&house, &tenancy, entry).await.unwrap_err().code(), "name-taken");
    assert!(peek(&house.db, &alice, "plan-meeting").await.unwrap().skill.document.contains("New."));
    assert_eq!(archive_of(&house, &tenancy).await.len(), 1);
    assert_counts(&house, &alice).await;
}

#[tokio::test]
async fn a_successor_answers_to_the_names_of_absorbed_skills() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    for name in ["old", "middle", "new"] {
        save(&house.db, &alice, &Draft::text(name, "Meet.")).await.unwrap();
    }
    for (absorbed, by) in [("old", "middle"), ("middle", "new")] {
        let successor = peek(&house.db, &alice, by).await.unwrap().skill;
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        let skill = skills::lock(&mut tx, &named(absorbed)).await.unwrap().unwrap().skill;
        let (successor, purge_at) = (Some((successor.id, by)), now() + TimeDelta::days(30));
        skills::archive(
            &mut tx,
            &Archived {
                id: ArchiveId(new_id()),
                skill: &skill,
                successor,
                named: &[],
                is_reviewed: false,
                now: now(),
                purge_at,
            },
        )
        .unwrap();
        tx.commit().await.unwrap();
    }
    for name in ["old", "middle"] {
        let misses = skills::explain_miss(&house.db, &alice, name).await.unwrap();
        assert_eq!((misses.successor.as_deref(), misses.names.len()), (Some("new"), 1), "{name}");
    }
    save(&house.db, &alice, &Draft::text("old", "Anew.")).await.unwrap();
    delete(&house.db, &alice, "new", Keep::Nothing).await.unwrap();
    assert_eq!(skills::explain_miss(&house.db, &alice, "middle").await.unwrap().successor, None);
    assert!(peek(&house.db, &alice, "old").await.is_some());
    assert_counts(&house, &alice).await;
}

#[tokio::test]
async fn without_retention_bytes_are_removed_unless_shared() {
    let house = House::open().await;
    let settings = TenantSettings { archive_days: 0, ..TenantSettings::default() };
    let tenancy = house.tenant_with(&settings).await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    let one: &[(&str, &[u8])] = &[("references/own.md", b"own"), ("references/shared.md", b"shared")];
    let two: &[(&str, &[u8])] = &[("references/shared.md", b"shared")];
    save(&house.db, &alice, &Draft { name: "one", body: "First.", files: one }).await.unwrap();
    save(&house.db, &alice, &Draft { name: "one", body: "Second.", files: one }).await.unwrap();
    save(&house.db, &alice, &Draft { name: "two", body: "Two.", files: two }).await.unwrap();
    save(&house.db, &bob, &Draft { name: "one", body: "First.", files: one }).await.unwrap();
    delete(&house.db, &alice, "one", Keep::Nothing).await.unwrap();

    assert!(!is_stored(&house, &alice, b"own").await);
    assert!(is_stored(&house, &alice, b"shared").await);
    assert!(is_stored(&house, &bob, b"own").await);
    assert_counts(&house, &alice).await;
    assert_counts(&house, &bob).await;
    assert!(archive_of(&house, &tenancy).await.is_empty());
    let versions = format!("select count(*) from skill_versions where tenant_id = '{}'", tenancy.id.0);
    assert_eq!(house.place.count(&versions).await, 2);
}

#[tokio::test]
async fn destroying_a_skill_keeps_files_of_archived_skills() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    let files: &[(&str, &[u8])] = &[("references/shared.md", b"shared")];
    save(&house.db, &alice, &Draft { name: "kept", body: "Kept.", files }).await.unwrap();
    // The current version no longer has the file. Only the archived history of the skill has it.
    save(&house.db, &alice, &Draft::text("kept", "Kept.")).await.unwrap();
    save(&house.db, &alice, &Draft { name: "gone", body: "Gone.", files }).await.unwrap();
    delete(&house.db, &alice, "kept", Keep::a_month()).await.unwrap();
    delete(&house.db, &alice, "gone", Keep::Nothing).await.unwrap();
    assert!(is_stored(&house, &alice, b"shared").await);
    let entry = archive_of(&house, &tenancy).await[0].0;
    restore(&house, &tenancy, entry).await.unwrap();
    assert_counts(&house, &alice).await;
}
