//! Whether a message asks for any skill at all.
//!
//! A logistic fit of found skills against messages that no skill answers, over catalogues of 1 to 200 skills with
//! long, short and no bodies (docs/recall.md). No signal tells alone: a score that is chance among 200 skills is none
//! among 5.

use super::catalogue::Catalogue;
use super::score::Signals;
use super::search::Hit;

/// Fits below this get nothing. It keeps 97 % of what is found among the first five.
pub(super) const FLOOR: f32 = 0.15;

struct Floor {
    base: f32,
    /// Of the logarithm of the best score.
    score: f32,
    /// Of the square of the share of the message that the best skill covers.
    cover: f32,
    /// Of the share that skills cover on average: how much the message speaks of what the catalogue is about.
    field: f32,
    /// Of the logarithm of the number of skills.
    skills: f32,
    /// Of the logarithm of the mean length of bodies: the longer they are, the more of a score is chance.
    depth: f32,
    /// Of the best skill's cosine, which counts for less here than in the score.
    cosine: f32,
}

const WORDS: Floor = Floor { base: -2.42, score: 4.31, cover: 2.7, field: 3.3, skills: -1.1, depth: -0.7, cosine: 0.0 };
const WORDS_AND_MEANING: Floor =
    Floor { base: -5.8, score: 5.98, cover: 2.7, field: 2.86, skills: -0.93, depth: -0.65, cosine: -4.6 };

/// How likely the best hit answers the message, if as many messages ask for a skill as for none.
pub(super) fn estimate_fit(catalogue: &Catalogue, best: Option<&Hit>, all: &[Signals], has_meaning: bool) -> f32 {
    let Some(Hit { score, signals, .. }) = best else { return 0.0 };
    let floor = if has_meaning { &WORDS_AND_MEANING } else { &WORDS };
    let skills = all.len() as f32;
    let field = all.iter().map(|signals| signals.cover).sum::<f32>() / skills;
    let sum = floor.base
        + floor.score * score.ln_1p()
        + floor.cover * signals.cover * signals.cover
        + floor.field * field
        + floor.skills * skills.ln()
        + floor.depth * catalogue.body_terms.ln_1p()
        + floor.cosine * signals.cosine;
    1.0 / (1.0 + (-sum).exp())
}
