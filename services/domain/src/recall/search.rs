//! Ranks the skills of a catalogue by a message: words in three fields, how much of the message they cover, meaning.

use super::catalogue::Catalogue;
use super::floor;
use super::hash::{hash, short};
use super::meaning::Meaning;
use super::mentions;
use super::ordinary::rarity;
use super::spelling;
use super::tokens::list_terms;

/// How a skill answers a message; all are 0 where nothing fits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// BM25 over the name.
    pub name: f32,
    /// BM25 over name, description and triggers.
    pub text: f32,
    /// BM25 over the body.
    pub body: f32,
    /// Share of the message, weighed by rarity, that name, description and triggers hold; 0 to 1.
    pub text_cover: f32,
    /// The same of all fields together.
    pub cover: f32,
    /// Cosine of the embeddings, or what the words let expect where the skill has none yet.
    pub cosine: f32,
}

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

/// Weights of the signals in the score.
struct Fusion {
    name: f32,
    text: f32,
    body: f32,
    cosine: f32,
}

/// Without embeddings.
const WORDS: Fusion = Fusion { name: 0.19, text: 0.39, body: 0.28, cosine: 0.0 };
/// With embeddings.
const WORDS_AND_MEANING: Fusion = Fusion { name: 0.19, text: 0.39, body: 0.28, cosine: 8.0 };

impl Fusion {
    fn score(&self, signals: &Signals) -> f32 {
        self.name * signals.name + self.text * signals.text + self.body * signals.body + self.cosine * signals.cosine
    }
}

/// A term of the message.
struct Asked {
    term: u32,
    /// How much it counts, for how often it was said.
    weight: f32,
}

/// What the message as a whole is like.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Message {
    /// Sum of their rarities.
    pub(super) mass: f32,
    /// Whether cosines were compared.
    pub(super) has_meaning: bool,
}

/// Ranks at most `limit` skills for a message; `embedding` is the message's, where there is one in time.
pub fn search(catalogue: &Catalogue, message: &str, embedding: Option<&[f32]>, limit: usize) -> Ranking {
    search_with(catalogue, message, embedding.into(), limit)
}

/// Ranks at most `limit` skills for a message.
///
/// Every skill with a word of the message takes part, and with an embedding every skill. Formulas: BM25 (Robertson and
/// Zaragoza 2009) with the idf of the catalogue, tempered by how ordinary a word is in English at large (geometric mean:
/// the idf of 50 documents alone is noisy); the raw sums are fused, since dividing each by its maximum forgets how much
/// the best one fits.
pub fn search_with(catalogue: &Catalogue, message: &str, meaning: Meaning<'_>, limit: usize) -> Ranking {
    let mut signals = vec![Signals::default(); catalogue.len()];
    let asked = read_message(catalogue, message);
    let mut about = Message::default();
    for asked in &asked {
        about.mass += score_term(catalogue, asked, &mut signals);
    }
    if about.mass > 0.0 {
        for signal in &mut signals {
            signal.text_cover /= about.mass;
            signal.cover /= about.mass;
        }
    }
    let compared;
    let cosines = match meaning {
        Meaning::Unknown => &[],
        Meaning::Embedding(embedding) => {
            compared = catalogue.meanings.cosines(embedding);
            compared.as_slice()
        }
        Meaning::Cosines(cosines) => cosines,
    };
    about.has_meaning = add_meaning(cosines, &mut signals);
    let fusion = if about.has_meaning { &WORDS_AND_MEANING } else { &WORDS };
    let score = |skill: usize| Hit { skill, score: fusion.score(&signals[skill]), signals: signals[skill] };
    // From by_name, and by a stable sort: equal scores keep the order of names.
    let mut hits: Vec<Hit> = catalogue.by_name.iter().map(|skill| score(*skill as usize)).collect();
    hits.retain(|hit| hit.score > 0.0);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let fit = floor::estimate_fit(&about, &hits);
    hits.truncate(limit);
    Ranking { hits, fit, near: mentions::list_near(cosines) }
}

/// The distinct terms of a message; a misspelt one stands for the term of the catalogue that it is closest to.
fn read_message(catalogue: &Catalogue, message: &str) -> Vec<Asked> {
    let mut said: Vec<(u32, f32)> = Vec::new();
    for term in list_terms(message) {
        let key = short(hash(term.as_bytes()));
        let known = catalogue.list(key).next().is_some();
        let key = if known { key } else { spelling::find_correction(&term, catalogue).unwrap_or(key) };
        match said.iter_mut().find(|(other, _)| *other == key) {
            Some((_, count)) => *count += 1.0,
            None => said.push((key, 1.0)),
        }
    }
    said.into_iter().map(|(term, count)| Asked { term, weight: count.min(3.0).sqrt() }).collect()
}

/// Adds what one term contributes, and returns its rarity.
fn score_term(catalogue: &Catalogue, asked: &Asked, signals: &mut [Signals]) -> f32 {
    let rarity = rarity(asked.term);
    let (mut in_text, mut in_body) = (0, 0);
    for (_, weights) in catalogue.list(asked.term) {
        in_text += usize::from(weights.text > 0.0);
        in_body += usize::from(weights.body > 0.0);
    }
    let text_idf = (idf(signals.len(), in_text) * rarity).sqrt() * asked.weight;
    let body_idf = (idf(signals.len(), in_body) * rarity).sqrt() * asked.weight;
    for (skill, weights) in catalogue.list(asked.term) {
        let signal = &mut signals[skill];
        signal.name += text_idf * weights.name;
        signal.text += text_idf * weights.text;
        signal.body += body_idf * weights.body;
        signal.cover += rarity;
        if weights.text > 0.0 {
            signal.text_cover += rarity;
        }
    }
    rarity
}

/// BM25's inverse document frequency in the form that is never negative (Lucene's).
fn idf(skills: usize, holders: usize) -> f32 {
    let (skills, holders) = (skills as f32, holders as f32);
    (1.0 + (skills - holders + 0.5) / (holders + 0.5)).ln()
}

/// Adds the cosines; a skill not embedded yet gets the one that its words suggest, so that it ranks among the others.
fn add_meaning(cosines: &[Option<f32>], signals: &mut [Signals]) -> bool {
    let known = || cosines.iter().flatten().copied();
    let count = known().count();
    if count == 0 {
        return false;
    }
    let mean = known().sum::<f32>() / count as f32;
    let best = known().fold(mean, f32::max);
    let best_words = signals.iter().map(|signal| WORDS.score(signal)).fold(f32::MIN_POSITIVE, f32::max);
    for (skill, signal) in signals.iter_mut().enumerate() {
        let cosine = cosines.get(skill).copied().flatten();
        signal.cosine = cosine.unwrap_or_else(|| mean + (best - mean) * WORDS.score(signal) / best_words);
    }
    true
}
