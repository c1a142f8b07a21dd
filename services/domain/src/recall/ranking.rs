//! The result of a search.

use super::signals::{Context, Signals};

/// A skill that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Position in the list that the catalogue was built from.
    pub skill: usize,
    /// The combined score, comparable only within one ranking. The difference of two scores is the logarithm of the
    /// ratio of their probabilities.
    pub score: f32,
    /// Probability relative to the best hit, 0 to 1.
    pub closeness: f32,
    /// The signals that the score is computed from.
    pub signals: Signals,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// The best skills, best first. Skills with equal scores are sorted by name.
    pub hits: Vec<Hit>,
    /// Probability that the message asks for any skill, 0 to 1.
    pub fit: f32,
    /// Properties of the message and the catalogue as a whole.
    pub context: Context,
    /// The highest score. It may belong to a skill that is excluded because the message names it.
    pub(super) best: f32,
    /// Length of the best skill or of a typical skill, whichever is shorter: from 0 for short to 1 for long.
    pub(super) longness: f32,
    /// The few skills with embeddings clearly near the message, nearest first.
    pub(super) near: Vec<usize>,
}

/// Maximum difference between the scores of a relevant hit and the best hit, if skills are short and the best hit is
/// certain. Hits at this distance are forty times less likely. Nearly all correct skills are nearer.
const NEAR_SHORT: f32 = 3.7;
/// Maximum difference between the scores if skills are long. Hits at this distance are two hundred times less likely.
const NEAR_LONG: f32 = 5.3;

impl Ranking {
    /// Returns the relevant hits, which are near the best. The list is empty if the fit of the message is below
    /// `floor`.
    pub fn relevant(&self, floor: f32) -> &[Hit] {
        if self.fit < floor {
            return &[];
        }
        let near = self.hits.partition_point(|hit| hit.closeness > 0.0 && hit.score >= self.best - self.max_distance());
        &self.hits[..near]
    }

    /// Returns the maximum difference between the scores of a relevant hit and the best hit. It shrinks with the fit of
    /// the best hit, so that each relevant hit is likely enough to be asked for.
    pub(super) fn max_distance(&self) -> f32 {
        (NEAR_SHORT + (NEAR_LONG - NEAR_SHORT) * self.longness + self.fit.ln()).max(0.0)
    }
}
