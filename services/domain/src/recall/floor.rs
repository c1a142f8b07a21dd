//! Estimates whether a message asks for any skill. A logistic regression on the features of the best skill separates
//! messages that a skill answers from messages that no skill answers.
//!
//! The estimate does not require the skill to match most of the message, because most words are politeness, names and
//! details. There are two sets of weights: short skills are found by meaning, long ones by their words
//! (docs/users/recall.md).

use super::fitted::{
    WORDS_AND_MEANING_EVIDENCE, WORDS_AND_MEANING_LONG, WORDS_AND_MEANING_SHORT, WORDS_EVIDENCE, WORDS_LONG,
    WORDS_SHORT,
};
use super::signals::{Context, Signals};
use super::weights::Floor;

/// Minimum fit of a message for its hits to be relevant, unless the tenant sets another value.
pub const FLOOR: f32 = 0.18;

/// Fit of a message that contains a distinctive trigger phrase.
const CERTAIN: f32 = 0.9;

/// Features of the best skill for a message.
pub(super) struct BestFeatures<'a> {
    pub(super) signals: &'a Signals,
    pub(super) score: f32,
    /// Score of the second-best skill, if there is one.
    pub(super) second: Option<f32>,
    /// The part of the score that comes from words.
    pub(super) words: f32,
}

/// Estimates the probability, 0 to 1, that the best skill answers the message. Assumes that half of all messages ask
/// for a skill.
pub(super) fn estimate_fit(context: &Context, best: &BestFeatures<'_>) -> f32 {
    let (short, long, evidence) = if context.has_meaning {
        (&WORDS_AND_MEANING_SHORT, &WORDS_AND_MEANING_LONG, &WORDS_AND_MEANING_EVIDENCE)
    } else {
        (&WORDS_SHORT, &WORDS_LONG, &WORDS_EVIDENCE)
    };
    let evidence = evidence.score(best.signals).max(0.0).ln_1p();
    let logit = |floor: &Floor| {
        floor.base
            + floor.evidence * evidence
            + floor.words * best.words.max(0.0).ln_1p()
            + floor.lead * best.second.map_or(0.0, |second| best.score - second).max(0.0).ln_1p()
            + floor.cover * best.signals.cover * best.signals.cover
            + floor.field * context.field
            + floor.skills * context.skills.ln()
            + floor.meaning * best.signals.meaning
            + floor.mean_meaning * context.mean_cosine
            + floor.spread * context.spread
            + floor.chatter * context.chatter
            + context.own.map_or(0.0, |own| floor.learned + floor.own * own)
    };
    let longness = longness(context, best.signals);
    let sum = (1.0 - longness) * logit(short) + longness * logit(long);
    let fit = 1.0 / (1.0 + (-sum).exp());
    if best.signals.trigger > 0.0 { fit.max(CERTAIN) } else { fit }
}

/// Returns the length of the best skill or of a typical skill, whichever is shorter: from 0 for short to 1 for long.
pub(super) fn longness(context: &Context, best: &Signals) -> f32 {
    ((context.depth.min(best.depth) - SHORT) / (LONG - SHORT)).clamp(0.0, 1.0)
}

/// Maximum depth that counts as short (about 50 terms).
const SHORT: f32 = 0.2;
/// Minimum depth that counts as long (about 110 terms).
const LONG: f32 = 0.35;
