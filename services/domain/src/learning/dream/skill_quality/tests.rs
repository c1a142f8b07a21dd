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
    let fine = SkillQuality { outcomes: 4, successes: 2, ..SkillQuality::default() };
    assert!(!is_at_risk(&fine) && !is_at_risk(&SkillQuality::default()));
    assert!(is_at_risk(&SkillQuality { corrections: 1, ..fine }));
    assert!(is_at_risk(&SkillQuality { thumbs_down: 1, ..fine }));
    assert!(is_at_risk(&SkillQuality { low_quality: 1, ..fine }));
    assert!(is_at_risk(&SkillQuality { over_budget: 1, ..fine }));
}

#[test]
fn a_success_rate_below_half_is_a_risk_from_three_outcomes() {
    for (successes, outcomes, risk) in [
        (0, 2, false),
        (0, 3, true),
        (1, 3, true),
        (2, 3, false),
        (2, 4, false),
        (u32::MAX / 2, u32::MAX, true),
        (u32::MAX, u32::MAX, false),
    ] {
        let quality = SkillQuality { outcomes, successes, ..SkillQuality::default() };
        assert_eq!(is_at_risk(&quality), risk, "{successes} of {outcomes}");
    }
}
