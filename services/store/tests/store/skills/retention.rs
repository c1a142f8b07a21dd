//! Deleted skills: restored whole within their retention, and removed completely after it.

use chrono::TimeDelta;
use knowhow_domain::skills::manifest;
use knowhow_store::skills::{self, history, versions};
use knowhow_store::{Principal, WriteTx, prune};

use super::archive::{archive_of, restore};
use crate::harness::{House, now, with_database};
use crate::vault::concurrency::assert_counts;
use crate::writer::{Draft, Keep, delete, named, peek, save, save_in};

/// Returns whether a file with these bytes is stored for the user.
pub(super) async fn is_stored(house: &House, principal: &Principal, bytes: &[u8]) -> bool {
    let mut tx = WriteTx::begin(&house.db, principal, "test").await.unwrap();
    let digest = manifest::hex(&manifest::digest(bytes));
    skills::read_files(&mut tx, &[digest]).await.unwrap().iter().any(|(_, stored)| stored == bytes)
}

/// Gives a skill a long history: versions 1 to `last`, each with `files` files. Each version has one file that no
/// earlier version has.
pub(super) async fn age(house: &House, principal: &Principal, last: i32, files: i32) {
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
async fn a_long_history_is_deleted_at_once_and_removed_in_steps() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        save(&house.db, &alice, &Draft::text("long", "Long.")).await.unwrap();
        age(&house, &alice, 250, 4).await;
        assert_counts(&house, &alice).await;
        let versions = "select count(*) from skill_versions";

        // Within the retention the whole history is restored.
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

        // After the retention one step removes some versions, and later steps the rest. A partly removed skill cannot
        // be restored.
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
async fn the_oldest_versions_are_removed_with_their_files() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    for n in 1..=9 {
        let own = format!("own {n}");
        // Version 4 has a file that version 1 had.
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
async fn the_oldest_versions_make_room_and_the_last_of_each_skill_stays() {
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

#[tokio::test]
async fn quotas_count_the_stored_skills() {
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
