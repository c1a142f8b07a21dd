//! Deleted skills: they come back whole while they are kept, and leave no byte when they are not.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{ArchiveId, TenantSettings, manifest, new_id};
use knowhow_store::idempotency::{self, KeyedRequest};
use knowhow_store::skills::{self, Archived, LoadUse, NewRestore};
use knowhow_store::usage::{self, Use};
use knowhow_store::{Principal, Pruned, TenantTx, Window, WriteTx, history, prune, versions};

use crate::concurrency::assert_counts;
use crate::harness::{House, Tenancy, now, with_database};
use crate::writer::{Draft, Keep, delete, named, peek, save, save_in};

/// Whether the file of these bytes is stored for the user.
async fn is_stored(house: &House, principal: &Principal, bytes: &[u8]) -> bool {
    let mut tx = WriteTx::begin(&house.db, principal, "test").await.unwrap();
    let digest = manifest::hex(&manifest::digest(bytes));
    skills::read_files(&mut tx, &[digest]).await.unwrap().iter().any(|(_, stored)| stored == bytes)
}

/// Gives a skill a long history: versions 1 to `last`, each with `files` files, of which one is its own.
async fn age(house: &House, principal: &Principal, last: i32, files: i32) {
    let (tenant, user) = (principal.tenant().0, principal.user().unwrap().0);
    house.place.run(&format!("delete from skill_versions where user_id = '{user}'")).await;
    let sql = format!(
        "with made as (
             insert into skill_resources (tenant_id, user_id, digest, content)
             select '{tenant}', '{user}', sha256(convert_to(n::text, 'UTF8')), convert_to(n::text, 'UTF8')
             from generate_series(1, {last} + {files}) n on conflict do nothing
         ), known as (
             insert into skill_files (tenant_id, user_id, digest, skill_id, last_version)
             select '{tenant}', '{user}', sha256(convert_to(n::text, 'UTF8')), s.skill_id,
                    case when n >= {last} then 2147483647 else n end
             from generate_series(1, {last} + {files} - 1) n, skills s where s.user_id = '{user}'
         ), aged as (
             update skills set version = {last} where user_id = '{user}'
         )
         insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, digest, document_digest,
             document_bytes, resources, created_at)
         select s.tenant_id, s.user_id, s.skill_id, v, 'save', 'test', s.digest, s.document_digest, s.document_bytes,
                (select jsonb_agg(jsonb_build_object('path', 'a/' || n, 'media_type', 'text/plain', 'size', 5,
                        'digest', encode(sha256(convert_to(n::text, 'UTF8')), 'hex')))
                 from generate_series(v, v + {files} - 1) n), now()
         from skills s, generate_series(1, {last}) v where s.user_id = '{user}'"
    );
    house.place.run(&sql).await;
    house
        .place
        .run(&format!(
            "delete from skill_resources r where user_id = '{user}' and not exists (
        select from skill_files f where f.user_id = '{user}' and f.digest = r.digest) and not exists (
        select from skills s where s.user_id = '{user}' and s.document_digest = r.digest)"
        ))
        .await;
    house
        .place
        .run(&format!(
            "update user_catalogs set stored_bytes =
        (select sum(bytes) from skill_resources where user_id = '{user}')
        + (select sum(bytes) from skill_versions where user_id = '{user}') where user_id = '{user}'"
        ))
        .await;
}

#[tokio::test]
async fn a_long_history_is_deleted_at_once_and_cleared_in_steps() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        save(&house.db, &alice, &Draft::text("long", "Long.")).await.unwrap();
        age(&house, &alice, 250, 4).await;
        assert_counts(&house, &alice).await;
        let versions = "select count(*) from skill_versions";

        // Within its time all of it comes back.
        let at = now() + TimeDelta::days(30);
        delete(&house.db, &alice, "long", Keep::Until(at)).await.unwrap();
        assert!(peek(&house.db, &alice, "long").await.is_none());
        assert_counts(&house, &alice).await;
        let entry = archive_of(&house, &tenancy).await[0].0;
        restore(&house, &tenancy, entry).await.unwrap();
        assert_eq!(
            (place.count(versions).await, peek(&house.db, &alice, "long").await.unwrap().skill.version),
            (250, 250)
        );
        assert_counts(&house, &alice).await;

        // Past it one step is made, then the rest, and what is half gone is not put back.
        delete(&house.db, &alice, "long", Keep::Nothing).await.unwrap();
        assert_eq!(place.count(versions).await, 150);
        assert!(archive_of(&house, &tenancy).await.is_empty());
        assert_counts(&house, &alice).await;
        let pruned = prune(&house.db, now(), 100).await.unwrap();
        assert_eq!((pruned.archived_skills, place.count(versions).await), (1, 0));
        assert_eq!(place.count("select count(*) from skill_resources").await, 0);
        assert_eq!(place.count("select count(*) from user_catalogs where stored_bytes <> 0").await, 0);
        assert_counts(&house, &alice).await;
    })
    .await;
}

#[tokio::test]
async fn the_oldest_versions_leave_with_their_files() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    for n in 1..=9 {
        let own = format!("own {n}");
        // Version 4 takes up again what version 1 had.
        let early: &[u8] = if n == 1 || n == 4 { b"early" } else { b"other" };
        let files: &[(&str, &[u8])] = &[("a/own.md", own.as_bytes()), ("a/all.md", b"all"), ("a/early.md", early)];
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        let body = format!("Body {n}.");
        let written = save_in(&mut tx, &Draft { name: "plan", body: &body, files }).await.unwrap();
        if n > 3 {
            history::trim(&mut tx, written.id, written.version, 3);
        }
        tx.commit().await.unwrap();
        assert_counts(&house, &alice).await;
        assert_eq!(is_stored(&house, &alice, b"early").await, n <= 6, "{n}");
    }
    let skill = peek(&house.db, &alice, "plan").await.unwrap().skill.id;
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    let kept: Vec<i32> = versions::list(&mut tx, skill, None, 10).await.unwrap().iter().map(|v| v.version).collect();
    assert_eq!(kept, [9, 8, 7]);
    drop(tx);
    assert!(is_stored(&house, &alice, b"own 7").await && !is_stored(&house, &alice, b"own 6").await);
    assert!(is_stored(&house, &alice, b"all").await);
}

#[tokio::test]
async fn the_oldest_make_room_and_the_last_of_each_skill_stays() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    let long = "word ".repeat(400);
    for name in ["live", "gone", "gone-too"] {
        for n in 1..=4 {
            save(&house.db, &alice, &Draft::text(name, &format!("{name} {n} {long}"))).await.unwrap();
        }
    }
    for name in ["gone", "gone-too"] {
        delete(&house.db, &alice, name, Keep::a_month()).await.unwrap();
    }
    let room = async |most: u64| {
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        skills::lock(&mut tx, &named("live")).await.unwrap();
        let has_room = history::make_room(&mut tx, most, now()).await.unwrap();
        tx.commit().await.unwrap();
        assert_counts(&house, &alice).await;
        let user = alice.user().unwrap().0;
        let kept = house.place.count(&format!("select stored_bytes from user_catalogs where user_id = '{user}'")).await;
        assert_eq!(has_room, kept.unsigned_abs() <= most);
        kept.unsigned_abs()
    };
    let whole = room(u64::MAX).await;
    assert!(room(whole - 1).await < whole / 2);
    assert_eq!(archive_of(&house, &tenancy).await.len(), 2, "the last version of what was deleted is still there");
    assert!(room(8_000).await <= 8_000);
    let names: Vec<String> = archive_of(&house, &tenancy).await.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["gone-too"], "what was deleted longest ago leaves first");
    assert!(room(1).await > 1);
    assert!(archive_of(&house, &tenancy).await.is_empty());
    assert!(peek(&house.db, &alice, "live").await.unwrap().skill.document.contains("live 4"));
}

/// Every archived entry of a tenant, newest first: id and name.
async fn archive_of(house: &House, tenancy: &Tenancy<'_>) -> Vec<(ArchiveId, String)> {
    let admin = tenancy.admin().await;
    let mut tx = TenantTx::begin_admin(&house.db, &admin, knowhow_domain::UserId::TENANT_WIDE, "test").await.unwrap();
    let entries = skills::list_archive(&mut tx, None, Window { behind: None, limit: 100 }, now()).await.unwrap();
    entries.into_iter().map(|e| (e.id, e.name)).collect()
}

async fn restore(house: &House, tenancy: &Tenancy<'_>, entry: ArchiveId) -> knowhow_domain::Result<String> {
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
async fn a_deleted_skill_comes_back_whole() {
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
    let page = skills::list_page(&house.db, &alice, &skills::ListQuery { limit: 10, ..Default::default() }).await;
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
async fn a_name_that_was_taken_again_is_not_overwritten() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    save(&house.db, &alice, &Draft::text("plan-meeting", "Old.")).await.unwrap();
    delete(&house.db, &alice, "plan-meeting", Keep::a_month()).await.unwrap();
    let entry = archive_of(&house, &tenancy).await[0].0;

    // A writer is in the middle of it: the restore waits for its end, and then sees the name taken.
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
async fn what_absorbed_a_skill_answers_to_its_name() {
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
async fn without_retention_the_bytes_go_and_shared_ones_stay() {
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
async fn destroying_one_skill_spares_what_an_archive_holds() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = tenancy.user("alice").await;
    let files: &[(&str, &[u8])] = &[("references/shared.md", b"shared")];
    save(&house.db, &alice, &Draft { name: "kept", body: "Kept.", files }).await.unwrap();
    // The current version has the file no more; only its history in the archive does.
    save(&house.db, &alice, &Draft::text("kept", "Kept.")).await.unwrap();
    save(&house.db, &alice, &Draft { name: "gone", body: "Gone.", files }).await.unwrap();
    delete(&house.db, &alice, "kept", Keep::a_month()).await.unwrap();
    delete(&house.db, &alice, "gone", Keep::Nothing).await.unwrap();
    assert!(is_stored(&house, &alice, b"shared").await);
    let entry = archive_of(&house, &tenancy).await[0].0;
    restore(&house, &tenancy, entry).await.unwrap();
    assert_counts(&house, &alice).await;
}

#[tokio::test]
async fn clearing_up_takes_what_is_due_and_nothing_else() {
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
async fn clearing_up_goes_by_age_and_in_batches() {
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
        for _ in 0..2 {
            let pruned = prune(&house.db, at, 1).await.unwrap();
            assert_eq!(pruned, Pruned { idempotency_keys: 1, usage_days: 1, offers: 1, ..Pruned::default() });
        }
        assert_eq!(prune(&house.db, at, 1).await.unwrap(), Pruned::default());
        assert_eq!(peek(&house.db, &alice, "plan-meeting").await.unwrap().times_used, counts);
        assert_eq!(place.count("select count(*) from usage_days").await, 2);
        assert_eq!(place.count("select count(*) from skill_offers").await, 2);
        assert_eq!(place.count("select count(*) from usage_events").await, 3);
        assert_eq!(place.count("select count(*) from idempotency_keys where key = 'new'").await, 1);
    })
    .await;
}

/// What is destroyed for good must not wait for a statement that fails each time.
#[tokio::test]
async fn clearing_up_goes_on_behind_what_fails() {
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
async fn clearing_up_never_leaves_an_entry_without_its_files() {
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
async fn clearing_up_spares_a_file_that_a_writer_is_taking_up() {
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
        // Clearing up either ends without regard to the writer, or waits for it.
        while !clearing.is_finished() && place.count(waiting).await == 0 {}
        tx.commit().await.unwrap();
        assert_eq!(clearing.await.unwrap().unwrap().archived_skills, 1);
        assert!(is_stored(&house, &alice, b"shared").await, "the new skill's file is gone");
        assert_counts(&house, &alice).await;
    })
    .await;
}

#[tokio::test]
async fn quotas_are_told_what_there_is() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let files: &[(&str, &[u8])] = &[("references/a.md", b"12345")];
    let one = save(&house.db, &alice, &Draft { name: "one", body: "One.", files }).await.unwrap();
    let size = i64::try_from(crate::writer::document("one", "One.").raw().len()).unwrap();
    assert_eq!((one.skill_count, one.byte_count), (1, size + 5));
    let smaller = save(&house.db, &alice, &Draft::text("one", "One.")).await.unwrap();
    assert_eq!((smaller.skill_count, smaller.byte_count), (1, size));
    let two = save(&house.db, &alice, &Draft::text("two", "Two!")).await.unwrap();
    assert_eq!((two.skill_count, two.byte_count), (2, 2 * size));
    delete(&house.db, &alice, "one", Keep::a_month()).await.unwrap();
    let last = save(&house.db, &alice, &Draft::text("two", "Two!!")).await.unwrap();
    assert_eq!((last.skill_count, last.byte_count), (1, size + 1));
    assert_counts(&house, &alice).await;
}
