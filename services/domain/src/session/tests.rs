use super::*;

#[test]
fn six_hours_and_a_second_end_a_conversation() {
    let (last, gap) = (DateTime::UNIX_EPOCH, TimeDelta::minutes(GAP_MINUTES.into()));
    assert!(!is_over(Some(last), gap, last + TimeDelta::hours(6)));
    assert!(is_over(Some(last), gap, last + TimeDelta::hours(6) + TimeDelta::seconds(1)));
    assert!(!is_over(None, gap, last + TimeDelta::days(300)));
}

#[test]
fn every_channel_is_reminded_before_its_last_turn() {
    let due = |max_turns: i32| (1..=max_turns).filter(|turn| is_nudge_due(*turn, max_turns)).collect::<Vec<_>>();
    for channel in Channel::ALL {
        let max_turns = i32::try_from(channel.max_turns()).unwrap();
        let due = due(max_turns);
        assert!(due.iter().any(|turn| (2..max_turns).contains(turn)), "{channel:?}: {due:?}");
    }
    assert_eq!((due(10), due(6), due(5), due(15)), (vec![5, 10], vec![3], vec![3], vec![10]));
    assert_eq!((due(1), due(2), due(3)), (vec![], vec![], vec![2]));
    assert_eq!(due(30), [10, 20, 30]);
    let first = |max_turns: i32| (1..=max_turns).filter(|turn| is_first_nudge(*turn, max_turns)).collect::<Vec<_>>();
    assert_eq!((first(10), first(30), first(1)), (vec![5], vec![10], vec![]));
}
