use super::*;

#[test]
fn the_settings_page_is_up_to_date() {
    assert_eq!(include_str!("../../../../../docs/reference/settings.md"), page().unwrap(), "run: make settings");
}
