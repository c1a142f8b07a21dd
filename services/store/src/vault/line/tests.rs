use futures_util::FutureExt;
use knowhow_domain::new_id;

use super::*;

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_third_waits_until_one_of_two_is_done_and_others_do_not() {
    let (tenant, user) = (TenantId(new_id()), UserId(new_id()));
    let first = TRANSACTIONS.take(tenant, user, LONG).await.unwrap();
    let _second = TRANSACTIONS.take(tenant, user, LONG).await.unwrap();
    let mut third = Box::pin(TRANSACTIONS.take(tenant, user, LONG));
    assert!(third.as_mut().now_or_never().is_none());
    assert!(TRANSACTIONS.take(tenant, UserId(new_id()), LONG).await.unwrap().is_some());
    drop(first);
    assert!(third.await.unwrap().is_some());
}

#[tokio::test]
async fn what_belongs_to_the_tenant_waits_for_nobody() {
    assert!(TRANSACTIONS.take(TenantId(new_id()), UserId::TENANT_WIDE, LONG).await.unwrap().is_none());
}

#[tokio::test]
async fn two_statements_of_a_user_run_nearby_and_four_far_away() {
    for (is_far, at_once) in [(false, 2), (true, 4)] {
        let (tenant, user) = (TenantId(new_id()), UserId(new_id()));
        let take = || STATEMENTS.take_places(places_of_a_statement(is_far), (tenant, user), LONG);
        let mut taken = Vec::new();
        for _ in 0..at_once {
            taken.push(take().await.unwrap());
        }
        assert!(Box::pin(take()).now_or_never().is_none());
    }
}
