#[test]
fn the_metrics_page_is_up_to_date() {
    assert_eq!(include_str!("../../../../../docs/reference/metrics.md"), super::page(), "run: make settings");
}
