//! Judges a skill: whether it is too short, and whether its uses failed.

/// Number of characters below which a body is sparse.
const SPARSE_CHARS: usize = 200;
/// Age in days that a skill must exceed to count as sparse. A younger skill may still be growing.
const SPARSE_DAYS: i64 = 7;
/// Minimum number of known outcomes for judging a skill by its success rate.
const TELLING_OUTCOMES: u32 = 3;

/// Results of a skill's uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkillQuality {
    /// Number of sessions that used the skill and have a correction by the user.
    pub corrections: u32,
    /// Number of sessions that used the skill and were rated thumbs down.
    pub thumbs_down: u32,
    /// Number of sessions that used the skill and were rated poor or fair.
    pub low_quality: u32,
    /// Number of sessions that used the skill and have a reply that used up its iteration budget.
    pub over_budget: u32,
    /// Number of uses with a known outcome.
    pub outcomes: u32,
    /// Number of successful uses.
    pub successes: u32,
}

/// Returns whether a skill is too short: its body has fewer than 200 characters, and it is older than 7 days.
pub fn is_sparse(body_characters: usize, age_days: i64) -> bool {
    body_characters < SPARSE_CHARS && age_days > SPARSE_DAYS
}

/// Returns whether a skill needs attention: after any user correction, poor or fair rating, thumbs down, or exhausted
/// iteration budget. With at least three known outcomes, a skill also needs attention if fewer than half are
/// successes.
pub fn is_at_risk(quality: &SkillQuality) -> bool {
    let SkillQuality { corrections, thumbs_down, low_quality, over_budget, outcomes, successes } = *quality;
    let often_fails = outcomes >= TELLING_OUTCOMES && u64::from(successes) * 2 < u64::from(outcomes);
    corrections > 0 || thumbs_down > 0 || low_quality > 0 || over_budget > 0 || often_fails
}

#[cfg(test)]
mod tests;
