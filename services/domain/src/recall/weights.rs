//! Weights of the signals in scores and in the estimate of the fit. Their values are in `fitted`.

use super::signals::Signals;

/// Weights of the signals in the score.
pub(super) struct Fusion {
    pub(super) text: f32,
    pub(super) body: f32,
    pub(super) phrases: f32,
    pub(super) meaning: f32,
    /// Increase of the weight of meaning per unit of the skill's depth.
    pub(super) meaning_depth: f32,
}

/// Weight of a trigger phrase's rarity. It is not fitted, because there is no data. A matching trigger should outrank
/// mere similarity.
const TRIGGER: f32 = 1.0;

impl Fusion {
    pub(super) fn score(&self, signals: &Signals) -> f32 {
        self.words(signals) + (self.meaning + self.meaning_depth * signals.depth) * signals.meaning
    }

    /// Returns the part of the score that comes from words.
    pub(super) fn words(&self, signals: &Signals) -> f32 {
        self.text * signals.text + self.body * signals.body + self.phrases * signals.phrases + TRIGGER * signals.trigger
    }
}

/// Weights of the features of the regression.
pub(super) struct Floor {
    /// Weight of the logarithm of the best skill's total score from words and meaning.
    pub(super) evidence: f32,
    /// Weight of the logarithm of the best skill's score from words.
    pub(super) words: f32,
    /// Weight of the logarithm of the best skill's lead over the second.
    pub(super) lead: f32,
    /// Weight of the square of the share of the message that the best skill covers.
    pub(super) cover: f32,
    /// Weight of the mean share that skills cover, which shows to what extent the message is about the library's
    /// subject.
    pub(super) field: f32,
    /// Weight of the logarithm of the number of skills. If there are many, unrelated messages score higher.
    pub(super) skills: f32,
    /// Weight of the best skill's nearness by meaning, including its examples.
    pub(super) meaning: f32,
    /// Weights of the mean and the standard deviation of all cosines.
    pub(super) mean_meaning: f32,
    pub(super) spread: f32,
    /// Weight of the cosine to small talk.
    pub(super) chatter: f32,
    /// Constant that is added if skills have examples. `own` is the weight of the examples' mean nearness to their own
    /// skills: the nearer the examples are, the nearer the message must be.
    pub(super) learned: f32,
    pub(super) own: f32,
    pub(super) base: f32,
}
