use super::*;

#[test]
fn six_hours_and_a_second_end_a_conversation() {
    let (last, gap) = (DateTime::UNIX_EPOCH, TimeDelta::minutes(GAP_MINUTES.into()));
    assert!(!is_over(Some(last), gap, last + TimeDelta::hours(6)));
    assert!(is_over(Some(last), gap, last + TimeDelta::hours(6) + TimeDelta::seconds(1)));
    assert!(!is_over(None, gap, last + TimeDelta::days(300)));
}

#[test]
fn every_tenth_turn_has_a_reminder_to_save() {
    let due: Vec<i32> = (1..=35).filter(|turn| is_nudge_due(*turn)).collect();
    assert_eq!(due, [10, 20, 30]);
    assert_eq!((1..=35).filter(|turn| is_first_nudge(*turn)).collect::<Vec<_>>(), [10]);
}
