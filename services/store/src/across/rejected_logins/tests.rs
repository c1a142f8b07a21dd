use super::*;

#[test]
fn many_addresses_result_in_few_entries() {
    let mut counts = RejectedLoginCounts::default();
    let tenant = |n: u128| TenantId(Uuid::from_u128(n));
    let steady = RefusedLogin { place: HOME, tenant: tenant(1), address: Some(IpAddr::from([127, 0, 0, 1])) };
    for n in 0..10_000_u32 {
        let address = Some(IpAddr::from(n.to_be_bytes()));
        counts.add(RefusedLogin { place: HOME, tenant: tenant(u128::from(n % 1000) + 1), address });
        counts.add(steady);
    }
    assert!(counts.by_login.len() <= ADDRESSES + TENANTS + 1, "{}", counts.by_login.len());
    assert_eq!(counts.by_login.values().sum::<u32>(), 20_000);
    assert_eq!(counts.by_login[&steady], 10_000);
}
