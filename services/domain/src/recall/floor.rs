//! Whether a message asks for any skill at all: a logistic fit of found skills against messages that no skill answers.
//!
//! The fit judges the best skill, not how much of the message it covers: politeness, names and details are most of what
//! people say. Two floors, as short skills are found by meaning and long ones by their words (docs/recall.md).

use super::fitted::{
    WORDS_AND_MEANING_EVIDENCE, WORDS_AND_MEANING_LONG, WORDS_AND_MEANING_SHORT, WORDS_EVIDENCE, WORDS_LONG,
    WORDS_SHORT,
};
use super::score::{Context, Signals};

/// What a message must reach, where a tenant does not say otherwise.
pub const FLOOR: f32 = 0.18;

/// Of a telling trigger phrase that is said whole.
const CERTAIN: f32 = 0.9;

/// Weights of what tells found skills from chance.
pub(super) struct Floor {
    /// Logarithm of what words and meaning of the best skill add up to.
    pub(super) evidence: f32,
    /// Logarithm of its words in the score.
    pub(super) words: f32,
    /// Logarithm of how far it stands above the second.
    pub(super) lead: f32,
    /// Square of the share of the message that it covers.
    pub(super) cover: f32,
    /// The share that skills cover on average: how much the message speaks of what the library is about.
    pub(super) field: f32,
    /// Logarithm of the number of skills: among many, chance scores higher.
    pub(super) skills: f32,
    /// How near it is, with its examples.
    pub(super) meaning: f32,
    /// Mean and standard deviation of all cosines.
    pub(super) mean_meaning: f32,
    pub(super) spread: f32,
    /// The cosine to what asks for no skill.
    pub(super) chatter: f32,
    /// Added if skills have examples, and the weight of how near these are to their own skills: where they are nearer than
    /// elsewhere, so must the message be.
    pub(super) learned: f32,
    pub(super) own: f32,
    pub(super) base: f32,
}

/// The best skill, as far as the floor looks at it.
pub(super) struct Best<'a> {
    pub(super) signals: &'a Signals,
    pub(super) score: f32,
    /// The score of the next one, if there is one.
    pub(super) second: Option<f32>,
    /// What its words are worth in the score.
    pub(super) words: f32,
}

/// Estimates the probability, 0 to 1, that the best skill answers the message. Assumes that half of all messages ask
/// for a skill.
pub(super) fn estimate_fit(context: &Context, best: &Best<'_>) -> f32 {
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

/// Returns how long the best skill and most others are: 0 for short ones, 1 for long ones.
pub(super) fn longness(context: &Context, best: &Signals) -> f32 {
    ((context.depth.min(best.depth) - SHORT) / (LONG - SHORT)).clamp(0.0, 1.0)
}

/// Depths of skills that are short for certain, some 50 terms, and long for certain, some 110.
const SHORT: f32 = 0.2;
const LONG: f32 = 0.35;
