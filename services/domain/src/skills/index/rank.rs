//! Ranks skills for an index that cannot show all of them.

use chrono::{DateTime, Utc};

/// Usage of a skill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkillUsage {
    /// Whether the user pinned the skill.
    pub pinned: bool,
    /// Importance, 0 to 1.
    pub importance: f32,
    /// Number of uses.
    pub times_used: i64,
    /// Time of the last use or change.
    pub active_at: DateTime<Utc>,
}

/// Days without use after which a skill's score drops to three quarters.
const HALF_LIFE_DAYS: f32 = 30.0;
/// Score of a pinned skill. It exceeds any score from importance, use and recency.
const PINNED: f32 = 1_000.0;

/// Returns the score of each skill for the index. Pinned skills come first; importance, use and recency order the
/// others.
///
/// The newest activity among the skills serves as the current time, so that the order does not depend on the day.
pub fn rank_skills(usages: &[SkillUsage]) -> Vec<f32> {
    let Some(newest) = usages.iter().map(|usage| usage.active_at).max() else { return Vec::new() };
    usages.iter().map(|usage| rank(usage, newest)).collect()
}

fn rank(usage: &SkillUsage, newest: DateTime<Utc>) -> f32 {
    let idle_days = (newest - usage.active_at).num_seconds() as f32 / 86_400.0;
    let recency = 0.5 + 0.5 * 0.5_f32.powf(idle_days / HALF_LIFE_DAYS);
    let use_of_it = 1.0 + (usage.times_used.max(0) as f32).ln_1p();
    usage.importance * use_of_it * recency + if usage.pinned { PINNED } else { 0.0 }
}

#[cfg(test)]
mod tests;
