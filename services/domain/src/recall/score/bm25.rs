//! Scores the message's words in the fields of each skill: BM25, adjusted by the words' general frequency.
//! `catalogue/scale.rs` has the part that does not depend on the message.

use super::Signals;
use crate::learning::pause::pause_at;
use crate::recall::catalogue::Catalogue;
use crate::recall::ordinary::rarity;

/// A term of a message.
pub(in crate::recall) struct MessageTerm {
    pub(in crate::recall) term: u32,
    /// Number of occurrences; a pasted word counts less than 1.
    pub(in crate::recall) count: f32,
}

/// Adds the scores of a message's words to the signals.
///
/// Uses BM25 (Robertson and Zaragoza 2009) with the catalogue's IDF. The IDF is adjusted by the words' frequency in
/// general English, because an IDF from 50 documents is noisy.
pub(in crate::recall) fn add_words(catalogue: &Catalogue, asked: &[MessageTerm], signals: &mut [Signals]) {
    let add = |(step, asked): (usize, &MessageTerm)| {
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

/// Adds the scores of a term to the signals. Returns the rarity of the term, which is reduced if the term is only
/// pasted.
fn add_term(catalogue: &Catalogue, asked: &MessageTerm, signals: &mut [Signals]) -> f32 {
    let rarity = rarity(asked.term);
    let (mut in_text, mut in_body) = (0, 0);
    for (_, count) in catalogue.count(asked.term) {
        in_text += usize::from(count.text > 0);
        in_body += usize::from(count.body > 0);
    }
    let weighted_count = asked.count.min(MOST_SAID).sqrt();
    // Pasted terms also count less in `cover`, the share of the message's terms that a skill contains.
    let matched_rarity = rarity * weighted_count.min(1.0);
    let weight = |holders| weighted_count * idf(signals.len(), holders).powf(OWN_SHARE) * rarity.powf(1.0 - OWN_SHARE);
    let (text_weight, body_weight) = (weight(in_text), weight(in_body));
    for (skill, weights) in catalogue.list(asked.term) {
        let signal = &mut signals[skill];
        signal.text += text_weight * weights.text;
        signal.body += body_weight * weights.body;
        signal.cover += matched_rarity;
    }
    matched_rarity
}

/// Share of the catalogue's IDF in a term's weight, which is a geometric mean of the IDF and the rarity in English.
const OWN_SHARE: f32 = 0.75;
/// Maximum number of occurrences of a term that count in a message.
const MOST_SAID: f32 = 3.0;

/// Number of imaginary skills without the term. Without them, all words in a library with one skill would occur in
/// every skill and count as 0.
const IMAGINED: usize = 30;

/// Returns BM25's inverse document frequency, in Lucene's form, which is never negative.
fn idf(skills: usize, holders: usize) -> f32 {
    let (skills, holders) = ((skills + IMAGINED) as f32, holders as f32);
    (1.0 + (skills - holders + 0.5) / (holders + 0.5)).ln()
}
