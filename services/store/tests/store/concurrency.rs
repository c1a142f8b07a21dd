//! Many at once, through the store's own functions: nothing is lost, nothing counts twice, nothing is left over.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::{join_all, try_join_all};
use knowhow_domain::{Outcome, SkillId, new_id};
use knowhow_store::skills::ListQuery;
use knowhow_store::usage::{self, Use};
use knowhow_store::{Principal, TenantTx, WriteTx, idempotency, skills, versions};
use knowhow_testing::poll_async;
use serde_json::json;
use sqlx::Executor;

use crate::harness::{House, Place, now, with_database};
use crate::writer::{Draft, Keep, claim, delete, named, peek, save};

/// `column = value` pairs that select a principal's rows.
fn rows_of(principal: &Principal) -> String {
    format!("tenant_id = '{}' and user_id = '{}'", principal.tenant().0, principal.user().unwrap().0)
}

#[tokio::test]
async fn a_hundred_saves_at_once_make_versions_1_to_100() {
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

/// Two of one user's statements are at work, and others find a connection.
#[tokio::test]
async fn one_user_has_two_statements_at_work() {
    with_database(async |place| {
        let house = House::at(place, 1, 12);
        let (alice, bob) = (house.tenant().await.user("alice").await, house.tenant().await.user("bob").await);
        let mut owner = place.owner().await;
        owner.execute("begin; lock table skills in access exclusive mode").await.unwrap();
        let list = |who: Principal| {
            let db = house.db.clone();
            tokio::spawn(
                async move { skills::list_page(&db, &who, &ListQuery { limit: 10, ..Default::default() }).await },
            )
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
async fn a_hundred_and_fifty_loads_at_once_count_a_hundred_and_fifty() {
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
async fn a_key_claimed_fifty_times_at_once_is_fresh_once() {
    let house = House::at(&Place::shared().await, 12, 1);
    let alice = house.tenant().await.user("alice").await;
    let claims = (0..50).map(async |_| {
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        let claim = claim(&mut tx, "key", 1, now()).await.unwrap();
        if claim.is_none() {
            idempotency::answer(&mut tx, "key", json!({"answer": 42}));
        }
        tx.commit().await.unwrap();
        claim
    });
    let (fresh, answered): (Vec<_>, Vec<_>) = join_all(claims).await.into_iter().partition(Option::is_none);
    assert_eq!((fresh.len(), answered.len()), (1, 49));
    assert!(answered.iter().all(|answer| *answer == Some(json!({"answer": 42}))));
}

#[tokio::test]
async fn a_key_stands_for_one_request_and_one_day() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    let claim_as = async |who: &Principal, request: u8, at: DateTime<Utc>| {
        let mut tx = WriteTx::begin(&house.db, who, "test").await.unwrap();
        let claim = claim(&mut tx, "key", request, at).await.map_err(|e| e.code());
        if claim == Ok(None) {
            idempotency::answer(&mut tx, "key", json!(request));
        }
        tx.commit().await.unwrap();
        claim
    };
    let at = now();
    assert!(matches!(claim_as(&alice, 1, at).await, Ok(None)));
    assert!(matches!(claim_as(&alice, 1, at).await, Ok(Some(a)) if a == json!(1)));
    assert!(matches!(claim_as(&alice, 2, at).await, Err("idempotency-mismatch")));
    assert!(matches!(claim_as(&bob, 2, at).await, Ok(None)), "another user's key is another key");
    assert!(matches!(claim_as(&alice, 1, at + TimeDelta::hours(24)).await, Ok(Some(_))));
    assert!(matches!(claim_as(&alice, 2, at + TimeDelta::hours(25)).await, Ok(None)));
}

#[tokio::test]
async fn a_claim_that_rolls_back_leaves_the_key_fresh() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    for _ in 0..2 {
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        assert_eq!(claim(&mut tx, "key", 1, now()).await.unwrap(), None);
    }
}

/// One report of use after another, each in its own transaction; answers which counted, and the count.
async fn report(house: &House, alice: &Principal, uses: &[Use<'_>]) -> (Vec<bool>, i64) {
    let reports = uses.iter().map(async |used| {
        let mut tx = WriteTx::begin(&house.db, alice, "test").await.unwrap();
        let counted = usage::count(&mut tx, used).await.unwrap();
        tx.commit().await.unwrap();
        counted.unwrap().0
    });
    let counted = join_all(reports).await;
    (counted, peek(&house.db, alice, "plan-meeting").await.unwrap().times_used)
}

fn one_use(
    skill: SkillId,
    session: Option<&'static str>,
    memory: Option<&'static str>,
    at: DateTime<Utc>,
) -> Use<'static> {
    Use { skill, version: 1, session_key: session, memory_id: memory, outcome: None, now: at }
}

#[tokio::test]
async fn a_use_counts_once_per_session_memory_and_day() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let skill = save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
    let midnight: DateTime<Utc> = "2026-03-01T00:00:00Z".parse().unwrap();
    let before = midnight - TimeDelta::seconds(1);
    let mut expected = 0;
    for used in [
        one_use(skill, Some("s1"), Some("m1"), before),
        one_use(skill, None, None, before),
        one_use(skill, Some("s1"), Some("m1"), midnight),
        one_use(skill, Some("s2"), Some("m1"), before),
        one_use(skill, Some("s1"), Some("m2"), before),
        one_use(skill, Some("s1"), None, before),
        one_use(skill, None, Some("m1"), before),
    ] {
        let (counted, total) = report(&house, &alice, &vec![used; 5]).await;
        expected += 1;
        assert_eq!(counted.iter().filter(|c| **c).count(), 1);
        assert_eq!(total, expected);
    }
}

#[tokio::test]
async fn an_outcome_may_come_later_and_counts_once() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let skill = save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
    let silent = one_use(skill, Some("s1"), None, now());
    let success = Use { outcome: Some(Outcome::Success), ..silent.clone() };
    let failure = Use { outcome: Some(Outcome::Failure), ..silent.clone() };
    assert_eq!(report(&house, &alice, &[silent]).await, (vec![true], 1));
    let later = vec![success.clone(), success.clone(), success];
    assert_eq!(report(&house, &alice, &later).await, (vec![false; 3], 1));
    assert_eq!(report(&house, &alice, &[failure]).await, (vec![false], 1));
    let outcomes =
        format!("select successes * 100 + failures * 10 + partials from skill_usage where {}", rows_of(&alice));
    assert_eq!(house.place.count(&outcomes).await, 100);
}

#[tokio::test]
async fn a_user_first_seen_by_fifty_requests_at_once_is_one_user() {
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
async fn saves_and_deletes_at_once_leave_nothing_over() {
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
async fn uses_and_deletes_at_once_all_end() {
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
async fn two_users_save_one_name_without_meeting() {
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

/// What is counted is what is there, and what is there is wanted.
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

/// Saves take the user's row, then the skill's; the other way round the two would wait for each other.
#[tokio::test]
async fn a_made_summary_takes_no_skill_before_its_users_turn() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let skill = save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
    let document = peek(&house.db, &alice, "plan-meeting").await.unwrap().skill.document;
    let mut saving = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    skills::lock(&mut saving, &named("another")).await.unwrap();
    let summarize = async {
        let mut tx = TenantTx::begin(&house.db, &alice, "test").await.unwrap();
        let digest = knowhow_domain::manifest::digest(document.as_bytes());
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

/// The server says goodbye on each connection it closes, as at a restart; that is read at the next statement.
#[tokio::test]
async fn connections_that_were_closed_meanwhile_cost_nobody_a_write() {
    let place = Place::shared().await;
    crate::harness::with_role(&place, "", async |role, url| {
        let db = crate::harness::open(url, 2, 1);
        let house = House::open().await;
        let alice = house.tenant().await.user("alice").await;
        let bob = house.tenant().await.user("bob").await;
        // One after the other, each is sent: two users, as the writes of one stand in line.
        let open = async || try_join_all([&alice, &bob].map(|user| WriteTx::begin(&db, user, "test"))).await.unwrap();
        let use_all = async |txs: Vec<WriteTx>| {
            for mut tx in txs {
                skills::lock(&mut tx, &named("nothing")).await.unwrap();
                tx.commit().await.unwrap();
            }
        };
        use_all(open().await).await;
        // Both are taken before they are closed, so that neither is replaced by the pool.
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
