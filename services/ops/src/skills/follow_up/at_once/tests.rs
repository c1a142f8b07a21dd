use knowhow_domain::new_id;

use super::*;

#[test]
fn slots_are_limited_per_tenant_and_released_on_drop() {
    let at_once = Arc::<AtOnce>::default();
    let tenants: Vec<TenantId> = (0..=MOST / MOST_OF_TENANT).map(|_| TenantId(new_id())).collect();
    let take = |tenant| (0..=MOST_OF_TENANT).map_while(|_| AtOnce::take(&at_once, tenant)).collect::<Vec<_>>();
    let first = take(tenants[0]);
    assert_eq!(first.len(), MOST_OF_TENANT);
    let others: Vec<FollowUpSlot> = tenants[1..].iter().flat_map(|tenant| take(*tenant)).collect();
    assert_eq!(others.len(), MOST - MOST_OF_TENANT);
    drop(first);
    assert_eq!(take(tenants[0]).len(), MOST_OF_TENANT);
    drop(others);
    assert!(at_once.taken().is_empty());
}
