//! How much a skill matters now: what it was set to, less its idle days, shifted by how its uses turned out.

use std::ops::Add;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::fade::faded;

/// How the uses of a skill turned out, as far as that was said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Outcomes {
    /// It did what was wanted.
    #[schema(minimum = 0)]
    pub success: i64,
    /// It did not.
    #[schema(minimum = 0)]
    pub failure: i64,
    /// In part.
    #[schema(minimum = 0)]
    pub partial: i64,
}

/// The share of uses that turn out well, where nothing is known.
const USUAL_SUCCESS: f64 = 0.8;

/// So many uses of the usual kind are counted besides those that are known: one failure says little.
const USUAL_USES: f64 = 4.0;

impl Outcomes {
    /// How many are known.
    pub fn count(self) -> i64 {
        self.success + self.failure + self.partial
    }

    /// The share of uses that went well, a partial one by half; `None` where none is known.
    pub fn success_rate(self) -> Option<f32> {
        (self.count() > 0).then(|| (self.went_well() / self.count() as f64) as f32)
    }

    /// What importance is multiplied by: the success rate, shrunk towards the usual one, as a part of the usual one. 1 where
    /// nothing is known, 1.25 at most.
    ///
    /// The estimate is the mean of a beta distribution whose prior has the weight of 4 uses.
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

/// How a skill's importance fades.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    /// What is left from one idle day to the next, 0 to 1.
    pub rate: f32,
    /// It never fades below that, 0 to 1.
    pub floor: f32,
}

impl Fading {
    /// What is left of a base after so many idle days.
    pub fn faded(self, base: f32, days: f64) -> f32 {
        faded(base, self.rate, days, self.floor)
    }

    /// The same, shifted by outcomes; never above 1, nor below the floor by them.
    pub fn importance(self, base: f32, days: f64, outcomes: Outcomes) -> f32 {
        (self.faded(base, days) * outcomes.shift()).clamp(self.floor.min(base), 1.0)
    }
}

/// Most that memories, and relations, raise a skill in the ranked list: by a quarter each.
const MOST_RAISE: f64 = 0.25;

/// So many memories, or relations of full strength, raise it by half of that.
const HALF_RAISE: f64 = 4.0;

/// How much a skill stands out in the graph, from 1 to 1.5: by the memories that name it, and the strengths of its relations.
pub fn standing_out(memories: i64, relations: f64) -> f32 {
    let raise = |amount: f64| MOST_RAISE * amount / (amount + HALF_RAISE);
    (1.0 + raise(memories as f64) + raise(relations)) as f32
}

#[cfg(test)]
mod tests;
