//! Judging: selects the hits that a model may choose from, and detects uncertain rankings.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ranking::{Hit, Ranking};

/// Conditions for judging the found skills with a chat model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Judge {
    /// Judging is off.
    #[default]
    Off,
    /// Judges if it is uncertain whether a skill helps, or which one does.
    Unsure,
    /// Judges each message with candidates that names alone do not decide.
    Always,
}

/// Maximum ratio between the odds of the fit and the odds of the floor at which a ranking counts as unsure.
const UNSURE_ODDS: f32 = 8.0;

/// Minimum closeness of the second hit that makes a ranking unsure.
const CLOSE_SECOND: f32 = 0.5;

/// Minimum distance of a probability from 0 and 1, so that its odds are finite.
const LEAST: f32 = 1e-6;

impl Ranking {
    /// Returns the hits that a model may choose from, best first. Leaves out hits that a counter-example excludes.
    pub fn candidates(&self) -> impl Iterator<Item = &Hit> {
        self.hits.iter().filter(|hit| hit.closeness > 0.0)
    }

    /// Returns whether it is uncertain if a skill helps, or which one does. `floor` is the minimum fit of relevant
    /// hits.
    pub fn is_unsure(&self, floor: f32) -> bool {
        let is_near_floor = (odds(self.fit) / odds(floor)).ln().abs() <= UNSURE_ODDS.ln();
        let comes = self.relevant(floor);
        is_near_floor || comes.get(1).is_some_and(|second| second.closeness >= CLOSE_SECOND)
    }
}

fn odds(probability: f32) -> f32 {
    let probability = probability.clamp(LEAST, 1.0 - LEAST);
    probability / (1.0 - probability)
}

#[cfg(test)]
mod tests;
