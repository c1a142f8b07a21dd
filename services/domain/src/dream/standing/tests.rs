use super::*;

#[test]
fn short_skills_are_sparse_after_a_week() {
    for (characters, days, sparse) in [
        (150, 8, true),
        (150, 7, false),
        (150, 6, false),
        (199, 8, true),
        (200, 8, false),
        (0, i64::MAX, true),
        (0, -1, false),
    ] {
        assert_eq!(is_sparse(characters, days), sparse, "{characters} characters, {days} days");
    }
}

#[test]
fn skills_of_sessions_that_went_wrong_are_at_risk() {
    let fine = Standing { outcomes: 4, successes: 2, ..Standing::default() };
    assert!(!is_at_risk(&fine) && !is_at_risk(&Standing::default()));
    assert!(is_at_risk(&Standing { corrections: 1, ..fine }));
    assert!(is_at_risk(&Standing { thumbs_down: 1, ..fine }));
    assert!(is_at_risk(&Standing { low_quality: 1, ..fine }));
    assert!(is_at_risk(&Standing { over_budget: 1, ..fine }));
}

#[test]
fn under_half_of_three_outcomes_is_a_risk() {
    for (successes, outcomes, risk) in [
        (0, 2, false),
        (0, 3, true),
        (1, 3, true),
        (2, 3, false),
        (2, 4, false),
        (u32::MAX / 2, u32::MAX, true),
        (u32::MAX, u32::MAX, false),
    ] {
        let standing = Standing { outcomes, successes, ..Standing::default() };
        assert_eq!(is_at_risk(&standing), risk, "{successes} of {outcomes}");
    }
}
