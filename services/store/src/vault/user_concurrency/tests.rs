use futures_util::FutureExt;
use knowhow_domain::new_id;

use super::*;

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_third_transaction_waits_but_other_users_do_not() {
    let limits = UserConcurrency::default();
    let owner = TenantUser { tenant: TenantId(new_id()), user: UserId(new_id()) };
    let first = limits.transactions.take(owner, LONG).await.unwrap();
    let _second = limits.transactions.take(owner, LONG).await.unwrap();
    let mut third = Box::pin(limits.transactions.take(owner, LONG));
    assert!(third.as_mut().now_or_never().is_none());
    assert!(limits.transactions.take(TenantUser { user: UserId(new_id()), ..owner }, LONG).await.unwrap().is_some());
    drop(first);
    assert!(third.await.unwrap().is_some());
}

#[tokio::test]
async fn tenant_wide_work_takes_no_permit() {
    let limits = UserConcurrency::default();
    let owner = TenantUser { tenant: TenantId(new_id()), user: UserId::TENANT_WIDE };
    assert!(limits.transactions.take(owner, LONG).await.unwrap().is_none());
}

#[tokio::test]
async fn a_user_runs_two_statements_nearby_and_four_far_away() {
    let limits = UserConcurrency::default();
    for (is_far, at_once) in [(false, 2), (true, 4)] {
        let owner = TenantUser { tenant: TenantId(new_id()), user: UserId(new_id()) };
        let take = || limits.statements.take_places(permits_of_statement(is_far), owner, LONG);
        let mut taken = Vec::new();
        for _ in 0..at_once {
            taken.push(take().await.unwrap());
        }
        assert!(Box::pin(take()).now_or_never().is_none());
    }
}
