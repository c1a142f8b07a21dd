#[test]
fn the_page_of_metrics_is_current() {
    assert_eq!(include_str!("../../../../../docs/metrics.md"), super::page(), "run: make settings");
}
