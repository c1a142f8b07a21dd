use super::*;

#[test]
fn the_first_combinations_get_series_and_keep_them() {
    let routes = Routes::default();
    let admitted = (0..1000).filter(|status| routes.admit("GET", "/v1/skills", *status)).count();
    assert_eq!(admitted, MOST - KEPT);
    assert!(routes.admit("GET", "/v1/skills", 0) && !routes.admit("GET", "/v1/skills", 999));
}

#[test]
fn routes_with_objectives_get_series_even_if_the_rest_is_used_up() {
    let routes = Routes::default();
    let others = (0..1000).filter(|status| routes.admit("GET", "/v1/skills", *status)).count();
    assert_eq!(others, MOST - KEPT);
    let admitted = (0..100).filter(|status| routes.admit("POST", "/v1/sessions/{session}/turns", *status)).count();
    assert_eq!(admitted, KEPT);
}

#[test]
fn objectives_query_every_reserved_route() {
    let rules = include_str!("../../../../../deploy/observability/rules/objectives.yaml");
    for (method, route) in PROMISED {
        assert!(rules.contains(method) && rules.contains(route), "{method} {route}");
    }
}
