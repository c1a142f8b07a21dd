//! Reported uses: counted once, even with many concurrent reports.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use knowhow_domain::{Outcome, SkillId};
use knowhow_store::tenants::usage::{self, Use};
use knowhow_store::{Principal, WriteTx};

use crate::harness::{House, now};
use crate::vault::concurrency::rows_of;
use crate::writer::{Draft, peek, save};

/// Reports the uses concurrently, each in a separate transaction. Returns which were counted, and the total.
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

pub fn one_use(
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
async fn an_outcome_may_be_reported_later_and_counts_once() {
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
