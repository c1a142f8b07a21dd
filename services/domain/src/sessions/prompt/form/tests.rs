use super::*;

#[test]
fn every_snapshot_form_can_be_parsed_from_its_name() {
    let mut names = Vec::new();
    for tools in [Tools::Full, Tools::Read, Tools::None] {
        for channel in [Channel::Chat, Channel::Voice, Channel::Sms, Channel::Scheduled, Channel::Nudge] {
            let form = SnapshotForm::of(tools, channel);
            assert_eq!(SnapshotForm::from_name(form.as_str()), Some(form));
            names.push(form.as_str());
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["full", "full-short", "none", "read", "read-short"]);
    assert_eq!(SnapshotForm::from_name("none-short"), None);
    assert_eq!((SnapshotForm::FULL.as_str(), SnapshotForm::from_name("x")), ("full", None));
}
