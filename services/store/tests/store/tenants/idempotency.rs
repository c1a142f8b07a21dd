//! Idempotency keys: a key identifies one request of a user for one day.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use knowhow_store::tenants::idempotency;
use knowhow_store::{Principal, WriteTx};
use serde_json::json;

use crate::harness::{House, Place, now};
use crate::writer::claim;

#[tokio::test]
async fn fifty_concurrent_claims_of_a_key_are_fresh_once() {
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
async fn a_key_identifies_one_request_for_one_day() {
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
