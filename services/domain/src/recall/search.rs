//! Ranks the skills of a catalogue by a message.

use super::catalogue::Catalogue;
use super::floor;
use super::hash::{hash, short};
use super::meaning::Meaning;
use super::mentions;
use super::phrases::print_of;
use super::score::{Asked, Signals, WORDS, WORDS_AND_MEANING, add_meaning, add_phrases, add_words};
use super::spelling;
use super::tokens::{Shape, each_term};

/// A skill that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its place in the list that the catalogue was built from.
    pub skill: usize,
    /// The fused score; comparable within one answer only.
    pub score: f32,
    /// What the score was made of.
    pub signals: Signals,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// The best skills, best first, equal ones by name.
    pub hits: Vec<Hit>,
    /// How likely the message asks for any of the skills at all, 0 to 1.
    pub fit: f32,
    /// The skills whose embeddings are clearly near the message's, nearest first, few.
    pub(super) near: Vec<usize>,
}

impl Ranking {
    /// The hits, or none where the message most likely asks for no skill: a message that fits nothing gets nothing.
    pub fn above_floor(&self) -> &[Hit] {
        if self.fit >= floor::FLOOR { &self.hits } else { &[] }
    }
}

/// Ranks at most `limit` skills for a message; `embedding` is the message's, where there is one in time.
pub fn search(catalogue: &Catalogue, message: &str, embedding: Option<&[f32]>, limit: usize) -> Ranking {
    search_with(catalogue, message, embedding.into(), limit)
}

/// Ranks at most `limit` skills for a message.
///
/// Every skill with a word of the message takes part, and with a meaning every skill. The raw sums of the signals are
/// fused, since dividing each by its maximum forgets how much the best one fits.
pub fn search_with(catalogue: &Catalogue, message: &str, meaning: Meaning<'_>, limit: usize) -> Ranking {
    let mut signals = vec![Signals::default(); catalogue.len()];
    let (asked, phrases) = read_message(catalogue, message);
    add_words(catalogue, &asked, &mut signals);
    add_phrases(catalogue, &phrases, &mut signals);
    let compared;
    let cosines = match meaning {
        Meaning::Unknown => &[],
        Meaning::Embedding(embedding) => {
            compared = catalogue.meanings.cosines(embedding);
            compared.as_slice()
        }
        Meaning::Cosines(cosines) => cosines,
    };
    let has_meaning = add_meaning(cosines, &mut signals);
    let fusion = if has_meaning { &WORDS_AND_MEANING } else { &WORDS };
    let mut scored: Vec<(f32, usize)> =
        catalogue.by_name.iter().map(|skill| fusion.score(&signals[*skill as usize])).zip(0..).collect();
    scored.retain(|(score, _)| *score > 0.0);
    keep_best(&mut scored, limit.max(1));
    let hit_of = |(score, rank): (f32, usize)| {
        let skill = catalogue.by_name[rank] as usize;
        Hit { skill, score, signals: signals[skill] }
    };
    let mut hits: Vec<Hit> = scored.into_iter().map(hit_of).collect();
    let fit = floor::estimate_fit(catalogue, hits.first(), &signals, has_meaning);
    hits.truncate(limit);
    Ranking { hits, fit, near: mentions::list_near(cosines) }
}

/// Leaves the `count` best of scores with ranks of names, in order; equal scores stand in the order of names.
fn keep_best(scored: &mut Vec<(f32, usize)>, count: usize) {
    let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count < scored.len() {
        scored.select_nth_unstable_by(count, order);
        scored.truncate(count);
    }
    scored.sort_unstable_by(order);
}

/// Distinct terms, and phrases, of a message that are searched for: the first ones of a long text say what it is about.
pub(super) const TERMS: usize = 512;
/// Misspelt words that are looked at; each costs some hundred look-ups.
const CORRECTIONS: usize = 8;

/// The distinct terms and phrases of a message; a misspelt term stands for the one of the catalogue closest to it.
fn read_message(catalogue: &Catalogue, message: &str) -> (Vec<Asked>, Vec<u32>) {
    let mut asked: Vec<Asked> = Vec::new();
    let mut phrases = Vec::new();
    let mut last = None;
    let mut corrections = CORRECTIONS;
    each_term(message, |term, shape| {
        let mut key = short(hash(term.as_bytes()));
        if catalogue.list(key).is_empty() && corrections > 0 && spelling::is_correctable(term) {
            corrections -= 1;
            key = spelling::find_correction(term, catalogue).unwrap_or(key);
        }
        if let Some(other) = asked.iter_mut().find(|other| other.term == key) {
            other.count += 1.0;
        } else if asked.len() < TERMS {
            asked.push(Asked { term: key, count: 1.0 });
        }
        let word = (shape == Shape::Word).then_some(key);
        let phrase = last.zip(word).filter(|(a, b)| a != b).map(|(a, b)| print_of(a, b));
        if let Some(phrase) = phrase.filter(|phrase| phrases.len() < TERMS && !phrases.contains(phrase)) {
            phrases.push(phrase);
        }
        last = word;
    });
    (asked, phrases)
}
