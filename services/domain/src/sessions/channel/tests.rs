use super::*;

#[test]
fn channels_have_the_documented_budgets() {
    let turns = [(Channel::Voice, 6), (Channel::Sms, 10), (Channel::Scheduled, 15), (Channel::Nudge, 5)];
    assert!(turns.iter().all(|(channel, most)| channel.max_turns() == *most));
    assert_eq!(Channel::default(), Channel::Sms);
    assert!(turns.iter().all(|(c, _)| c.as_str().parse() == Ok(*c)));
}
