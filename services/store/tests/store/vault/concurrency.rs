//! Concurrent operations through the store's functions: no change is lost, counted twice or left over.

use std::collections::BTreeSet;

use futures_util::future::{join_all, try_join_all};
use knowhow_domain::{SkillId, new_id};
use knowhow_store::skills::{SkillListQuery, versions};
use knowhow_store::tenants::usage;
use knowhow_store::{Principal, TenantTx, WriteTx, skills};
use knowhow_testing::poll_async;
use sqlx::Executor;

use crate::harness::{House, Place, now, with_database};
use crate::tenants::uses::one_use;
use crate::writer::{Draft, Keep, delete, named, peek, save};

/// Returns the `column = value` conditions that select a principal's rows.
pub fn rows_of(principal: &Principal) -> String {
    format!("tenant_id = '{}' and user_id = '{}'", principal.tenant().0, principal.user().unwrap().0)
}

#[tokio::test]
async fn a_hundred_concurrent_saves_make_versions_1_to_100() {
    let house = House::at(&Place::shared().await, 8, 2);
    let alice = house.tenant().await.user("alice").await;
    let bodies: Vec<String> = (0..100).map(|i| format!("Way number {i}.")).collect();
    let drafts: Vec<Draft<'_>> = bodies.iter().map(|body| Draft::text("plan-meeting", body)).collect();
    let written = try_join_all(drafts.iter().map(|draft| save(&house.db, &alice, draft))).await.unwrap();
    let versions: BTreeSet<i32> = written.iter().map(|w| w.version).collect();
    assert_eq!(versions, (1..=100).collect());

    let current = peek(&house.db, &alice, "plan-meeting").await.unwrap().skill;
    assert_eq!(current.version, 100);
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    let history = versions::list(&mut tx, current.id, None, 1000).await.unwrap();
    assert_eq!(history.iter().map(|v| v.version).collect::<Vec<_>>(), (1..=100).rev().collect::<Vec<_>>());
    let mut texts = BTreeSet::new();
    for version in 1..=100 {
        texts.insert(versions::find(&mut tx, current.id, version).await.unwrap().unwrap().document);
    }
    assert_eq!(texts.len(), 100, "every save is in the history");
    assert_eq!(versions::find(&mut tx, current.id, 100).await.unwrap().unwrap().document, current.document);
    assert_counts(&house, &alice).await;
}

/// At most two statements of a user run at once, so that other users find a connection.
#[tokio::test]
async fn a_user_has_at_most_two_running_statements() {
    with_database(async |place| {
        let house = House::at(place, 1, 12);
        let (alice, bob) = (house.tenant().await.user("alice").await, house.tenant().await.user("bob").await);
        let mut owner = place.owner().await;
        owner.execute("begin; lock table skills in access exclusive mode").await.unwrap();
        let list = |who: Principal| {
            let db = house.db.clone();
            tokio::spawn(async move {
                skills::list_page(&db, &who, &SkillListQuery { limit: 10, ..Default::default() }).await
            })
        };
        let at_work = async || {
            let waiting = "select count(*) from pg_stat_activity
                where datname = current_database() and usename = 'knowhow_login' and wait_event_type = 'Lock'";
            place.count(waiting).await
        };
        let mut lists: Vec<_> = (0..8).map(|_| list(alice.clone())).collect();
        poll_async("two of alice's", async || (at_work().await >= 2).then_some(())).await;
        lists.push(list(bob));
        poll_async("one of bob's", async || (at_work().await >= 3).then_some(())).await;
        for _ in 0..10 {
            assert_eq!(at_work().await, 3);
        }
        owner.execute("rollback").await.unwrap();
        for list in lists {
            assert!(list.await.unwrap().is_ok());
        }
    })
    .await;
}

#[tokio::test]
async fn a_hundred_and_fifty_concurrent_loads_are_all_counted() {
    let house = House::at(&Place::shared().await, 2, 8);
    let alice = house.tenant().await.user("alice").await;
    save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    let key = named("plan-meeting");
    let loads = (0..150).map(|_| {
        skills::load(
            &house.db,
            &alice,
            &key,
            skills::LoadUse { session: None, taught_since: None, relations: None, now: now() },
        )
    });
    let counts: BTreeSet<i64> = try_join_all(loads).await.unwrap().into_iter().map(|l| l.unwrap().times_used).collect();
    assert_eq!(counts, (1..=150).collect());
    assert_eq!(peek(&house.db, &alice, "plan-meeting").await.unwrap().times_used, 150);
    let events = format!("select sum(times) from usage_events where kind = 'view' and {}", rows_of(&alice));
    assert_eq!(house.place.count(&events).await, 150);
    assert!(
        skills::load(
            &house.db,
            &alice,
            &named("missing"),
            skills::LoadUse { session: None, taught_since: None, relations: None, now: now() }
        )
        .await
        .unwrap()
        .is_none()
    );
    assert_eq!(house.place.count(&events).await, 150);
}

#[tokio::test]
async fn fifty_concurrent_first_requests_create_one_user() {
    let place = Place::shared().await;
    let (one, two) = (House::at(&place, 6, 1), House::at(&place, 6, 1));
    let tenancy = one.tenant().await;
    let gates = [&one.gate, &two.gate];
    let requests = (0..50).map(|i| tenancy.authenticate(gates[i % 2], "alice", "user"));
    let ids: BTreeSet<_> = join_all(requests).await.iter().map(|p| p.user().unwrap()).collect();
    assert_eq!(ids.len(), 1);
    for table in ["users", "user_catalogs"] {
        let rows = format!("select count(*) from {table} where tenant_id = '{}'", tenancy.id.0);
        assert_eq!(one.place.count(&rows).await, 1, "{table}");
    }
}

#[tokio::test]
async fn concurrent_saves_and_deletes_leave_no_orphans() {
    let house = House::at(&Place::shared().await, 8, 2);
    let alice = house.tenant().await.user("alice").await;
    let names = ["a", "b", "c"];
    let work = (0..120).map(async |i: usize| {
        let name = names[i % names.len()];
        let body = format!("Way number {}.", i / 5);
        match i % 7 {
            0 => delete(&house.db, &alice, name, Keep::a_month()).await.map(drop),
            3 => delete(&house.db, &alice, name, Keep::Nothing).await.map(drop),
            5 => {
                let files: &[(&str, &[u8])] =
                    &[("references/shared.md", b"shared"), ("references/own.md", name.as_bytes())];
                save(&house.db, &alice, &Draft { name, body: &body, files }).await.map(drop)
            }
            _ => save(&house.db, &alice, &Draft::text(name, &body)).await.map(drop),
        }
    });
    for outcome in join_all(work).await {
        outcome.unwrap_or_else(|e| panic!("{e}: {:?}", std::error::Error::source(&e)));
    }
    assert_counts(&house, &alice).await;
    for name in names {
        delete(&house.db, &alice, name, Keep::Nothing).await.unwrap();
    }
    assert_counts(&house, &alice).await;
}

#[tokio::test]
async fn concurrent_uses_and_deletes_all_end() {
    let house = House::at(&Place::shared().await, 6, 8);
    let alice = house.tenant().await.user("alice").await;
    for _ in 0..10 {
        let skill = save(&house.db, &alice, &Draft::text("a", "Meet.")).await.unwrap().id;
        let key = named("a");
        let loads = join_all((0..16).map(|_| {
            skills::load(
                &house.db,
                &alice,
                &key,
                skills::LoadUse { session: None, taught_since: None, relations: None, now: now() },
            )
        }));
        let reports = join_all((0..8).map(async |_| {
            let mut tx = WriteTx::begin(&house.db, &alice, "test").await?;
            usage::count(&mut tx, &one_use(skill, None, None, now())).await?;
            tx.commit().await
        }));
        let (loads, reports, deleted) = tokio::join!(loads, reports, delete(&house.db, &alice, "a", Keep::a_month()));
        assert!(deleted.unwrap() && loads.iter().all(Result::is_ok) && reports.iter().all(Result::is_ok));
    }
    assert_counts(&house, &alice).await;
}

#[tokio::test]
async fn two_users_save_one_name_independently() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    let (of_alice, of_bob) = (Draft::text("plan-meeting", "By Alice."), Draft::text("plan-meeting", "By Bob."));
    let (one, two) = tokio::join!(save(&house.db, &alice, &of_alice), save(&house.db, &bob, &of_bob));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.version, two.version), (1, 1));
    assert_ne!(one.id, two.id);
    assert!(peek(&house.db, &alice, "plan-meeting").await.unwrap().skill.document.contains("By Alice."));
    let foreign = skills::SkillKey::Id(two.id);
    assert!(skills::peek(&house.db, &alice, &foreign).await.unwrap().is_none());
    assert!(
        skills::load(
            &house.db,
            &alice,
            &foreign,
            skills::LoadUse { session: None, taught_since: None, relations: None, now: now() }
        )
        .await
        .unwrap()
        .is_none()
    );
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    assert!(skills::lock(&mut tx, &foreign).await.unwrap().is_none());
    assert!(versions::list(&mut tx, two.id, None, 10).await.unwrap().is_empty());
    let never = skills::SkillKey::Id(SkillId(new_id()));
    assert!(skills::find(&mut tx, &never).await.unwrap().is_none());
    assert!(skills::find(&mut tx, &foreign).await.unwrap().is_none());
}

/// Asserts that the counts equal the stored rows, and that no row is orphaned.
pub async fn assert_counts(house: &House, principal: &Principal) {
    let rows = rows_of(principal);
    for (what, sql) in [
        ("skills beside the count", "select skill_count - (select count(*) from skills where ROWS) from user_catalogs where ROWS"),
        (
            "bytes beside the count",
            "select byte_count - (select coalesce(sum(document_bytes + resource_bytes), 0) from skills where ROWS)::bigint
             from user_catalogs where ROWS",
        ),
        (
            "skills without a row of usage",
            "select count(*) from skills s where ROWS and not exists (
                 select from skill_usage u where ROWS and u.skill_id = s.skill_id)",
        ),
        (
            "skills without their current version",
            "select count(*) from skills s where ROWS and not exists (
                 select from skill_versions v
                 where ROWS and v.skill_id = s.skill_id and v.version = s.version and v.digest = s.digest)",
        ),
        (
            "skills with a gap in their history",
            "select count(*) from skills s where ROWS and (
                 select max(v.version) - min(v.version) + 1 <> count(*) or max(v.version) <> s.version
                 from skill_versions v where ROWS and v.skill_id = s.skill_id)",
        ),
        (
            "resources without their bytes",
            "select count(*) from skill_versions v, jsonb_array_elements(v.resources) e where ROWS and not exists (
                 select from skill_resources r where ROWS and r.digest = decode(e ->> 'digest', 'hex'))",
        ),
        (
            "versions of no skill",
            "select count(*) from skill_versions v where ROWS
             and not exists (select from skills s where ROWS and s.skill_id = v.skill_id)
             and not exists (select from archived_skills a where ROWS and a.skill_id = v.skill_id)",
        ),
        (
            "files of a version that its history does not know",
            "select count(*) from skill_versions v, jsonb_array_elements(v.resources) e where ROWS and not exists (
                 select from skill_files f where ROWS and f.skill_id = v.skill_id and f.last_version >= v.version
                 and f.digest = decode(e ->> 'digest', 'hex'))",
        ),
        (
            "files that nothing refers to",
            "select count(*) from skill_resources r where ROWS
             and not exists (select from skill_versions v where ROWS and v.document_digest = r.digest)
             and not exists (select from skill_versions v, jsonb_array_elements(v.resources) e
                             where ROWS and decode(e ->> 'digest', 'hex') = r.digest)",
        ),
        (
            "stored bytes beside the count",
            "select stored_bytes - (select coalesce(sum(bytes), 0) from skill_resources where ROWS)::bigint
                 - (select coalesce(sum(bytes), 0) from skill_versions where ROWS)::bigint
                 - (select coalesce(sum(bytes), 0) from archived_skills where ROWS)::bigint
             from user_catalogs where ROWS",
        ),
    ] {
        assert_eq!(house.place.count(&sql.replace("ROWS", &rows)).await, 0, "{what}");
    }
}

/// Saves lock the row of the user before that of the skill. The reverse order could cause a deadlock.
#[tokio::test]
async fn storing_a_summary_locks_the_user_before_the_skill() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let skill = save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
    let document = peek(&house.db, &alice, "plan-meeting").await.unwrap().skill.document;
    let mut saving = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    skills::lock(&mut saving, &named("another")).await.unwrap();
    let summarize = async {
        let mut tx = TenantTx::begin(&house.db, &alice, "test").await.unwrap();
        let digest = knowhow_domain::skills::manifest::digest(document.as_bytes());
        assert!(skills::put_made_summary(&mut tx, skill, &digest, "Plans.").await.unwrap());
        tx.commit().await.unwrap();
    };
    let waiting = "select count(*) from pg_stat_activity
                   where wait_event_type = 'Lock' and query like '%user_catalogs%' and datname = current_database()";
    let free =
        format!("select count(*) from (select from skills where skill_id = '{}' for update skip locked) s", skill.0);
    let save = async {
        poll_async("the lock", async || (house.place.count(waiting).await > 0).then_some(())).await;
        assert_eq!(house.place.count(&free).await, 1);
        saving.commit().await.unwrap();
    };
    tokio::join!(summarize, save);
}

/// The server sends a message on each connection that it closes, as at a restart. The client reads it with the next
/// statement.
#[tokio::test]
async fn connections_closed_by_the_server_cost_no_write() {
    let place = Place::shared().await;
    crate::harness::with_role(&place, "", async |role, url| {
        let db = crate::harness::open(url, 2, 1);
        let house = House::open().await;
        let alice = house.tenant().await.user("alice").await;
        let bob = house.tenant().await.user("bob").await;
        // Two users, because writes of one user wait for each other.
        let open = async || try_join_all([&alice, &bob].map(|user| WriteTx::begin(&db, user, "test"))).await.unwrap();
        let use_all = async |txs: Vec<WriteTx>| {
            for mut tx in txs {
                skills::lock(&mut tx, &named("nothing")).await.unwrap();
                tx.commit().await.unwrap();
            }
        };
        use_all(open().await).await;
        // Both connections are taken before the server closes them, so that the pool replaces neither.
        let taken = open().await;
        let closed = format!(
            "select count(*) from (select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '{role}') t"
        );
        assert_eq!(place.count(&closed).await, 2);
        use_all(taken).await;
        db.close().await;
    })
    .await;
}
