//! Scores the words of a message in the fields of each skill: BM25, tempered by how ordinary a word is. The half of it
//! that is known before any message comes is in `catalogue/scale.rs`.

use super::Signals;
use crate::pause::pause_at;
use crate::recall::catalogue::Catalogue;
use crate::recall::ordinary::rarity;

/// A term of a message.
pub(in crate::recall) struct Asked {
    pub(in crate::recall) term: u32,
    /// How often it was said; a pasted word counts less than 1.
    pub(in crate::recall) count: f32,
}

/// Scores the words of a message.
///
/// BM25 (Robertson and Zaragoza 2009) with the idf of the catalogue, tempered by how ordinary a word is in English at
/// large: the idf of 50 documents alone is noisy.
pub(in crate::recall) fn add_words(catalogue: &Catalogue, asked: &[Asked], signals: &mut [Signals]) {
    let add = |(step, asked): (usize, &Asked)| {
        pause_at(step);
        add_term(catalogue, asked, signals)
    };
    let mass: f32 = asked.iter().enumerate().map(add).sum();
    if mass > 0.0 {
        for signal in signals {
            signal.cover /= mass;
        }
    }
}

/// Adds what one term contributes, and returns its rarity by how much it was said.
fn add_term(catalogue: &Catalogue, asked: &Asked, signals: &mut [Signals]) -> f32 {
    let rarity = rarity(asked.term);
    let (mut in_text, mut in_body) = (0, 0);
    for (_, count) in catalogue.count(asked.term) {
        in_text += usize::from(count.text > 0);
        in_body += usize::from(count.body > 0);
    }
    let said = asked.count.min(MOST_SAID).sqrt();
    // A pasted term weighs less in the share of the message that a skill covers, too.
    let rarity_said = rarity * said.min(1.0);
    let weight = |holders| said * idf(signals.len(), holders).powf(OWN_SHARE) * rarity.powf(1.0 - OWN_SHARE);
    let (text_weight, body_weight) = (weight(in_text), weight(in_body));
    for (skill, weights) in catalogue.list(asked.term) {
        let signal = &mut signals[skill];
        signal.text += text_weight * weights.text;
        signal.body += body_weight * weights.body;
        signal.cover += rarity_said;
    }
    rarity_said
}

/// The share of the catalogue's idf in a term's weight, a geometric mean with its rarity in English.
const OWN_SHARE: f32 = 0.75;
const MOST_SAID: f32 = 3.0;

/// Skills that are imagined besides those there are, none of which holds the term: in a library of one, every word of
/// the skill is in every skill, and would count for nothing.
const IMAGINED: usize = 30;

/// BM25's inverse document frequency in the form that is never negative (Lucene's).
fn idf(skills: usize, holders: usize) -> f32 {
    let (skills, holders) = ((skills + IMAGINED) as f32, holders as f32);
    (1.0 + (skills - holders + 0.5) / (holders + 0.5)).ln()
}
