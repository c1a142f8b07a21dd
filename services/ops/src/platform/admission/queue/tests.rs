use futures_util::FutureExt;
use knowhow_domain::new_id;

use super::*;

#[tokio::test]
async fn a_tenant_has_one_slot_and_the_process_several() {
    let (line, one, two, three) = (AdmissionQueue::new("things", 2), new_id(), new_id(), new_id());
    let turn = |tenant| line.turn_of(TenantId(tenant), UserId(new_id()));
    let first = turn(one).await.unwrap();
    let mut again = Box::pin(turn(one));
    assert!(again.as_mut().now_or_never().is_none());
    let _second = turn(two).await.unwrap();
    let mut third = Box::pin(turn(three));
    assert!(third.as_mut().now_or_never().is_none());
    drop(first);
    assert!(third.as_mut().now_or_never().is_some());
}

#[tokio::test]
async fn a_user_has_one_of_the_slots_of_a_tenant() {
    let (line, tenant, user) = (AdmissionQueue::shared("things", 3, 2), TenantId(new_id()), UserId(new_id()));
    let first = line.turn_of(tenant, user).await.unwrap();
    let mut again = Box::pin(line.turn_of(tenant, user));
    assert!(again.as_mut().now_or_never().is_none());
    let other = line.turn_of(tenant, UserId(new_id())).await.unwrap();
    assert!(!first.has_waited && !other.has_waited);
    drop(first);
    assert!(again.await.unwrap().has_waited);
}

#[tokio::test(start_paused = true)]
async fn a_caller_without_a_slot_after_the_wait_is_rate_limited() {
    let (line, tenant) = (AdmissionQueue::new("things", 1), TenantId(new_id()));
    let turn = || line.turn_of(tenant, UserId(new_id()));
    let _turn = turn().await.unwrap();
    let refusal = turn().await.err().unwrap();
    assert!(matches!(refusal, Error::RateLimited { retry_after: RETRY_S, .. }), "{refusal}");
}
