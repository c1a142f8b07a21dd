use super::*;

const ALL: Admitted = Admitted { by_server: 97, by_role: None, by_database: None };

#[test]
fn the_lowest_connection_limit_is_reported() {
    assert_eq!(find_excess(97, ALL), None);
    assert!(find_excess(98, ALL).is_some_and(|said| said.contains("98") && said.contains("max_connections")));
    let by_role = Admitted { by_role: Some(40), ..ALL };
    assert!(find_excess(41, by_role).is_some_and(|said| said.contains("role") && said.contains("allows 40")));
    let by_database = Admitted { by_database: Some(0), ..by_role };
    assert!(find_excess(1, by_database).is_some_and(|said| said.contains("alter database")));
}

#[test]
fn connection_count_matches_the_pools_of_the_process() {
    let config: Config = serde_json::from_str(r#"{"database_url": "postgres://a@b/c", "workers": 2}"#).unwrap();
    let count = |config: &Config| serving(config).unwrap().connections;
    // 16 connections per thread, and 5 for the main thread if it has no worker.
    assert_eq!(count(&config), 2 * 16 + 5);
    assert_eq!(count(&Config { metrics_bind: "127.0.0.1:0".into(), ..config.clone() }), 2 * 16 + 5 + 5);
    assert_eq!(count(&Config { with_worker: true, ..config.clone() }), 2 * 16 + 16 + 4);
    assert_eq!(count(&Config { write_connections: 1, ..config.clone() }), 2 * 8 + 5);
    assert_eq!(working(&config).unwrap().connections, 16 + 4);
}
