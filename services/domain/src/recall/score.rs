//! How much each skill answers a message: words in three fields, phrases, how much of the message is covered, meaning.

use super::catalogue::Catalogue;
use super::ordinary::rarity;

/// How a skill answers a message; all are 0 where nothing fits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// BM25 over the name.
    pub name: f32,
    /// BM25 over name, description and triggers.
    pub text: f32,
    /// BM25 over the body.
    pub body: f32,
    /// Phrases of the message that the body repeats.
    pub phrases: f32,
    /// Share of the message, weighed by rarity, that the skill holds anywhere; 0 to 1.
    pub cover: f32,
    /// Cosine of the embeddings, or what the words let expect where the skill has none yet.
    pub cosine: f32,
}

/// Weights of the signals in the score.
pub(super) struct Fusion {
    name: f32,
    text: f32,
    body: f32,
    phrases: f32,
    cosine: f32,
}

/// Without embeddings.
pub(super) const WORDS: Fusion = Fusion { name: 0.2, text: 0.3, body: 0.31, phrases: 0.75, cosine: 0.0 };
/// With embeddings.
pub(super) const WORDS_AND_MEANING: Fusion = Fusion { name: 0.05, text: 0.2, body: 0.26, phrases: 0.75, cosine: 8.2 };

impl Fusion {
    /// The fused score.
    pub(super) fn score(&self, signals: &Signals) -> f32 {
        self.name * signals.name
            + self.text * signals.text
            + self.body * signals.body
            + self.phrases * signals.phrases
            + self.cosine * signals.cosine
    }
}

/// A term of a message.
pub(super) struct Asked {
    pub(super) term: u32,
    /// How often it was said.
    pub(super) count: f32,
}

/// Scores the words of a message.
///
/// BM25 (Robertson and Zaragoza 2009) with the idf of the catalogue, tempered by how ordinary a word is in English at
/// large: the idf of 50 documents alone is noisy.
pub(super) fn add_words(catalogue: &Catalogue, asked: &[Asked], signals: &mut [Signals]) {
    let mass: f32 = asked.iter().map(|asked| add_term(catalogue, asked, signals)).sum();
    if mass > 0.0 {
        for signal in signals {
            signal.cover /= mass;
        }
    }
}

/// Adds what one term contributes, and returns its rarity.
fn add_term(catalogue: &Catalogue, asked: &Asked, signals: &mut [Signals]) -> f32 {
    let rarity = rarity(asked.term);
    let (mut in_text, mut in_body) = (0, 0);
    for (_, weights) in catalogue.list(asked.term) {
        in_text += usize::from(weights.text > 0.0);
        in_body += usize::from(weights.body > 0.0);
    }
    let said = asked.count.min(MOST_SAID).sqrt();
    let weight = |holders| said * idf(signals.len(), holders).powf(OWN_SHARE) * rarity.powf(1.0 - OWN_SHARE);
    let (text_weight, body_weight) = (weight(in_text), weight(in_body));
    for (skill, weights) in catalogue.list(asked.term) {
        let signal = &mut signals[skill];
        signal.name += text_weight * weights.name;
        signal.text += text_weight * weights.text;
        signal.body += body_weight * weights.body;
        signal.cover += rarity;
    }
    rarity
}

/// The share of the catalogue's idf in a term's weight, a geometric mean with its rarity in English.
const OWN_SHARE: f32 = 0.75;
const MOST_SAID: f32 = 3.0;

/// BM25's inverse document frequency in the form that is never negative (Lucene's).
fn idf(skills: usize, holders: usize) -> f32 {
    let (skills, holders) = (skills as f32, holders as f32);
    (1.0 + (skills - holders + 0.5) / (holders + 0.5)).ln()
}

/// Adds the phrases of a message, after its words: a body without them repeats none.
pub(super) fn add_phrases(catalogue: &Catalogue, phrases: &[u32], signals: &mut [Signals]) {
    for (skill, signal) in signals.iter_mut().enumerate().filter(|(_, signal)| signal.body > 0.0) {
        signal.phrases = catalogue.phrases.count(skill, phrases) as f32;
    }
}

/// Adds the cosines; a skill not embedded yet gets the one that its words suggest, so that it ranks among the others.
pub(super) fn add_meaning(cosines: &[Option<f32>], signals: &mut [Signals]) -> bool {
    let known = || cosines.iter().flatten().copied().filter(|cosine| cosine.is_finite());
    let count = known().count();
    if count == 0 {
        return false;
    }
    let mean = known().sum::<f32>() / count as f32;
    let best = known().fold(mean, f32::max);
    let best_words = signals.iter().map(|signal| WORDS.score(signal)).fold(f32::MIN_POSITIVE, f32::max);
    for (skill, signal) in signals.iter_mut().enumerate() {
        let cosine = cosines.get(skill).copied().flatten().filter(|cosine| cosine.is_finite());
        signal.cosine = cosine.unwrap_or_else(|| mean + (best - mean) * WORDS.score(signal) / best_words);
    }
    true
}
