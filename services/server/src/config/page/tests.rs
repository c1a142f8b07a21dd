use super::*;

#[test]
fn the_page_of_settings_is_current() {
    assert_eq!(include_str!("../../../../../docs/settings.md"), page().unwrap(), "run: make settings");
}
