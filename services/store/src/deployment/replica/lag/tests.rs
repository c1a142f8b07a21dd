use super::*;

#[test]
fn lag_counts_from_the_oldest_position_that_is_not_replayed() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut lag = Lag::default();
    assert_eq!(lag.at(at(60)), Duration::ZERO, "an idle primary is no lag");
    lag.note(100, at(0));
    lag.note(100, at(5));
    lag.note(200, at(10));
    assert_eq!(lag.at(at(12)), Duration::from_secs(12));
    lag.replayed(150);
    assert_eq!(lag.at(at(12)), Duration::from_secs(2));
    lag.replayed(200);
    assert_eq!(lag.at(at(12)), Duration::ZERO);
}

#[test]
fn the_number_of_positions_is_limited() {
    let start = Instant::now();
    let mut lag = Lag::default();
    for position in 0..2 * i64::try_from(MOST).unwrap() {
        lag.note(position, start);
    }
    assert_eq!(lag.ahead.len(), MOST);
}
