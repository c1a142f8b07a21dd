//! How a skill stands: whether it says too little, and whether its uses went wrong.

/// A shorter text hardly tells how something is done.
const SPARSE_CHARS: usize = 200;
/// A younger skill may still be growing.
const SPARSE_DAYS: i64 = 7;
/// Fewer outcomes may be chance.
const TELLING_OUTCOMES: u32 = 3;

/// What became of a skill's uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Sessions with its use in which the user put the agent right.
    pub corrections: u32,
    /// Sessions with its use that were judged with thumbs down.
    pub thumbs_down: u32,
    /// Sessions with its use whose quality was judged poor or fair.
    pub low_quality: u32,
    /// Uses of which it is known how they turned out.
    pub outcomes: u32,
    /// Those that did what they were for.
    pub successes: u32,
}

/// Whether a skill says too little: a body under 200 characters, older than 7 days.
pub fn is_sparse(body_characters: usize, age_days: i64) -> bool {
    body_characters < SPARSE_CHARS && age_days > SPARSE_DAYS
}

/// Whether a skill should be looked at: a session with it went wrong, or under half of three and more outcomes succeeded.
pub fn is_at_risk(standing: &Standing) -> bool {
    let Standing { corrections, thumbs_down, low_quality, outcomes, successes } = *standing;
    let often_fails = outcomes >= TELLING_OUTCOMES && u64::from(successes) * 2 < u64::from(outcomes);
    corrections > 0 || thumbs_down > 0 || low_quality > 0 || often_fails
}

#[cfg(test)]
mod tests {
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
}
