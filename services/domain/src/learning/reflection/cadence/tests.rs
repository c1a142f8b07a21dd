use super::*;

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

#[test]
fn a_period_is_due_from_its_end_until_the_next_one_is_due() {
    for (cadence, day, period) in [
        (Cadence::Daily, "2026-11-24", "2026-11-24"),
        // 2026-11-22 is a Sunday.
        (Cadence::Weekly, "2026-11-21", "2026-11-09"),
        (Cadence::Weekly, "2026-11-22", "2026-11-16"),
        (Cadence::Weekly, "2026-11-23", "2026-11-16"),
        (Cadence::Weekly, "2026-11-28", "2026-11-16"),
        (Cadence::Monthly, "2026-11-30", "2026-10-01"),
        (Cadence::Monthly, "2026-12-01", "2026-11-01"),
        (Cadence::Monthly, "2027-01-31", "2026-12-01"),
    ] {
        assert_eq!(cadence.due_on(date(day)), date(period), "{cadence} {day}");
    }
    for (cadence, period, last) in [
        (Cadence::Daily, "2026-11-24", "2026-11-24"),
        (Cadence::Weekly, "2026-11-16", "2026-11-22"),
        (Cadence::Monthly, "2028-02-01", "2028-02-29"),
    ] {
        assert_eq!(cadence.last_day(date(period)), date(last), "{cadence} {period}");
    }
}

#[test]
fn a_week_has_seven_days_and_a_month_the_weeks_that_end_in_it() {
    let (cadence, days) = Cadence::Weekly.below(date("2026-11-16")).unwrap();
    assert_eq!((cadence, days.len(), days[6]), (Cadence::Daily, 7, date("2026-11-22")));
    let weeks = |month: &str| Cadence::Monthly.below(date(month)).unwrap().1;
    // November 1, 2026 is a Sunday, so five weeks end in that month.
    let november: Vec<_> = ["10-26", "11-02", "11-09", "11-16", "11-23"].map(|day| date(&format!("2026-{day}"))).into();
    assert_eq!(weeks("2026-11-01"), november);
    assert_eq!(weeks("2026-12-01").len(), 4);
    assert!(Cadence::Daily.below(date("2026-11-16")).is_none());
    // Each week belongs to one month.
    let year: Vec<_> = (0..12).flat_map(|n| weeks(&(date("2026-01-01") + Months::new(n)).to_string())).collect();
    assert!(year.windows(2).all(|pair| pair[1] - pair[0] == chrono::TimeDelta::days(7)), "{year:?}");
}
