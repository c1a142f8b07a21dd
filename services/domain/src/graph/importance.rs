//! Current importance of a skill: the set value, decayed by idle days and adjusted by the outcomes of its uses.

use std::ops::Add;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::fade::faded;

/// Numbers of uses of a skill, by reported outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Outcomes {
    /// Number of successful uses.
    #[schema(minimum = 0)]
    pub success: i64,
    /// Number of failed uses.
    #[schema(minimum = 0)]
    pub failure: i64,
    /// Number of partly successful uses.
    #[schema(minimum = 0)]
    pub partial: i64,
}

/// Success rate that is assumed if there are no reports.
const USUAL_SUCCESS: f64 = 0.8;

/// Weight of the assumed rate, in uses, so that a single failure has little effect.
const USUAL_USES: f64 = 4.0;

impl Outcomes {
    /// Returns the number of uses with a reported outcome.
    pub fn count(self) -> i64 {
        self.success + self.failure + self.partial
    }

    /// Returns the success rate, 0 to 1; `None` if there are no reports. A partial success counts half.
    pub fn success_rate(self) -> Option<f32> {
        (self.count() > 0).then(|| (self.went_well() / self.count() as f64) as f32)
    }

    /// Returns the factor on importance: the success rate, moved towards the usual rate and divided by the usual rate.
    /// The factor is 1 without reports and at most 1.25.
    ///
    /// The estimate is the mean of a beta distribution with a prior of 4 uses.
    pub fn shift(self) -> f32 {
        let estimate = (self.went_well() + USUAL_SUCCESS * USUAL_USES) / (self.count() as f64 + USUAL_USES);
        (estimate / USUAL_SUCCESS) as f32
    }

    fn went_well(self) -> f64 {
        self.success as f64 + 0.5 * self.partial as f64
    }
}

impl Add for Outcomes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            success: self.success + other.success,
            failure: self.failure + other.failure,
            partial: self.partial + other.partial,
        }
    }
}

/// Decay of a skill's importance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    /// Factor on the importance per idle day, 0 to 1.
    pub rate: f32,
    /// Minimum importance after decay, 0 to 1.
    pub floor: f32,
}

impl Fading {
    /// Returns a base value after `days` idle days.
    pub fn faded(self, base: f32, days: f64) -> f32 {
        faded(base, self.rate, days, self.floor)
    }

    /// Returns the decayed value adjusted by outcomes, at most 1. Outcomes do not reduce it below the floor.
    pub fn importance(self, base: f32, days: f64, outcomes: Outcomes) -> f32 {
        (self.faded(base, days) * outcomes.shift()).clamp(self.floor.min(base), 1.0)
    }
}

/// Maximum increase of a skill's ranking factor due to memories. Relations increase it by at most the same amount.
const MOST_RAISE: f64 = 0.25;

/// Number of memories, or of full-strength relations, that give half of the maximum raise.
const HALF_RAISE: f64 = 4.0;

/// Returns a skill's ranking factor for its links in the graph, from 1 to 1.5. `memories` is the number of memories
/// that name the skill, `relations` the sum of the strengths of its relations.
pub fn link_factor(memories: i64, relations: f64) -> f32 {
    let raise = |amount: f64| MOST_RAISE * amount / (amount + HALF_RAISE);
    (1.0 + raise(memories as f64) + raise(relations)) as f32
}

#[cfg(test)]
mod tests;
