use knowhow_domain::new_id;

use super::*;

#[test]
fn no_tenant_takes_all_places_and_each_is_given_back() {
    let at_once = Arc::<AtOnce>::default();
    let tenants: Vec<TenantId> = (0..=MOST / MOST_OF_TENANT).map(|_| TenantId(new_id())).collect();
    let take = |tenant| (0..=MOST_OF_TENANT).map_while(|_| AtOnce::take(&at_once, tenant)).collect::<Vec<_>>();
    let first = take(tenants[0]);
    assert_eq!(first.len(), MOST_OF_TENANT);
    let others: Vec<Place> = tenants[1..].iter().flat_map(|tenant| take(*tenant)).collect();
    assert_eq!(others.len(), MOST - MOST_OF_TENANT);
    drop(first);
    assert_eq!(take(tenants[0]).len(), MOST_OF_TENANT);
    drop(others);
    assert!(at_once.taken().is_empty());
}
