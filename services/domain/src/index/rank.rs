//! Which skills come first where an index has no room for all.

use chrono::{DateTime, Utc};

/// What is known of how a skill is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Whether its user pinned it.
    pub pinned: bool,
    /// 0 to 1.
    pub importance: f32,
    /// How often it was used.
    pub times_used: i64,
    /// When it was last used, or changed.
    pub active_at: DateTime<Utc>,
}

/// After so many days without use a skill that is otherwise equal counts for three quarters.
const HALF_LIFE_DAYS: f32 = 30.0;
/// Beyond what importance, use and recency come to together.
const PINNED: f32 = 1_000.0;

/// How much each skill belongs into the index: the pinned ones first, then by importance, use and recency.
///
/// The newest activity among the skills stands for the present, so that the same skills give the same order on any day.
pub fn rank_skills(standings: &[Standing]) -> Vec<f32> {
    let Some(newest) = standings.iter().map(|standing| standing.active_at).max() else { return Vec::new() };
    standings.iter().map(|standing| rank(standing, newest)).collect()
}

fn rank(standing: &Standing, newest: DateTime<Utc>) -> f32 {
    let idle_days = (newest - standing.active_at).num_seconds() as f32 / 86_400.0;
    let recency = 0.5 + 0.5 * 0.5_f32.powf(idle_days / HALF_LIFE_DAYS);
    let use_of_it = 1.0 + (standing.times_used.max(0) as f32).ln_1p();
    standing.importance * use_of_it * recency + if standing.pinned { PINNED } else { 0.0 }
}

#[cfg(test)]
mod tests;
