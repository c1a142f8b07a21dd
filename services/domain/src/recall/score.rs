//! How much each skill answers a message: words in two fields, phrases, triggers, meaning, examples.

mod bm25;

use super::catalogue::Catalogue;
use super::examples::Examples;
use super::fitted::WORDS;
use super::learned::Compared;
pub(super) use bm25::{Asked, add_words};

/// How a skill answers a message; all are 0 where nothing fits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// BM25 over name, description and triggers.
    pub text: f32,
    /// BM25 over the body, less for a short one.
    pub body: f32,
    /// Phrases of the message that the body repeats.
    pub phrases: f32,
    /// How rare the words are of the rarest trigger phrase that the message says whole; 0 for an ordinary word.
    pub trigger: f32,
    /// Share of the message, weighed by rarity, that the skill holds anywhere; 0 to 1.
    pub cover: f32,
    /// Cosine of the embeddings, or what the words let expect where the skill has none yet.
    pub cosine: f32,
    /// Cosine of the message to the nearest example; 0 without one.
    pub example: f32,
    /// How near description and examples are together; the cosine without examples.
    pub meaning: f32,
    /// Cosine of the message to the nearest counter-example; 0 without one. The other signals are weakened by it already.
    pub counter: f32,
    /// How much the skill has to say: 0 without a body, near 1 for a long one.
    pub depth: f32,
}

/// What is known of a message and a catalogue as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Context {
    /// Skills in the catalogue.
    pub skills: f32,
    /// How much the skill in the middle has to say, 0 to 1.
    pub depth: f32,
    /// Mean over all skills of the share of the message that each holds: how much the message speaks of this field.
    pub field: f32,
    /// Whether there are embeddings to compare.
    pub has_meaning: bool,
    /// Mean of the cosines.
    pub mean_cosine: f32,
    /// Standard deviation of the cosines.
    pub spread: f32,
    /// Cosine to the nearest phrase that asks for no skill; 0 where that is not known.
    pub chatter: f32,
    /// How near the skills' examples are to their own skills on average; `None` without examples.
    pub own: Option<f32>,
}

impl Context {
    /// Sums up signals.
    pub(super) fn of(catalogue: &Catalogue, signals: &[Signals], has_meaning: bool) -> Self {
        let skills = signals.len().max(1) as f32;
        let mean = |of: &dyn Fn(&Signals) -> f32| signals.iter().map(of).sum::<f32>() / skills;
        let mean_cosine = mean(&|s| s.cosine);
        Self {
            skills,
            depth: catalogue.median_depth,
            field: mean(&|s| s.cover),
            has_meaning,
            mean_cosine,
            spread: mean(&|s| (s.cosine - mean_cosine).powi(2)).sqrt(),
            ..Self::default()
        }
    }
}

/// Weights of the signals in the score.
pub(super) struct Fusion {
    pub(super) text: f32,
    pub(super) body: f32,
    pub(super) phrases: f32,
    pub(super) meaning: f32,
    /// More for a skill with much to say, or less.
    pub(super) meaning_depth: f32,
}

/// A trigger phrase that is said whole counts as much as its rarity: there is nothing to fit it on, and it should beat
/// what only resembles it.
const TRIGGER: f32 = 1.0;

impl Fusion {
    pub(super) fn score(&self, signals: &Signals) -> f32 {
        self.words(signals) + (self.meaning + self.meaning_depth * signals.depth) * signals.meaning
    }

    /// What words add to the score.
    pub(super) fn words(&self, signals: &Signals) -> f32 {
        self.text * signals.text + self.body * signals.body + self.phrases * signals.phrases + TRIGGER * signals.trigger
    }
}

/// Adds the phrases of a message, after its words: a body without them repeats none.
pub(super) fn add_phrases(catalogue: &Catalogue, phrases: &[u32], signals: &mut [Signals]) {
    for (skill, signal) in signals.iter_mut().enumerate().filter(|(_, signal)| signal.body > 0.0) {
        signal.phrases = catalogue.count_phrases(skill, phrases) as f32;
    }
}

/// A phrase is telling that is worth so much: two ordinary words, or a rare one. One ordinary word is a word like others.
pub(super) const TELLING_TRIGGER: f32 = 4.5;

/// Adds the telling triggers that a message says, by its terms in order.
pub(super) fn add_triggers(catalogue: &Catalogue, said: &[u32], signals: &mut [Signals]) {
    catalogue.triggers.visit_said(said, |skill, mass| {
        if let Some(signal) = signals.get_mut(skill).filter(|_| mass >= TELLING_TRIGGER) {
            signal.trigger = signal.trigger.max(mass);
        }
    });
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
    let best_words = signals.iter().map(|signal| WORDS.words(signal)).fold(f32::MIN_POSITIVE, f32::max);
    for (skill, signal) in signals.iter_mut().enumerate() {
        let cosine = cosines.get(skill).copied().flatten().filter(|cosine| cosine.is_finite());
        signal.cosine = cosine.unwrap_or_else(|| mean + (best - mean) * WORDS.words(signal) / best_words);
        signal.meaning = signal.cosine;
    }
    true
}

/// Adds the examples, after the cosines.
pub(super) fn add_examples(examples: &Examples, embedding: &[f32], signals: &mut [Signals]) {
    let mut compared = vec![Compared::default(); signals.len()];
    examples.visit_cosines(embedding, |skill, cosine| {
        if let (Some(compared), Some(signal)) = (compared.get_mut(skill), signals.get(skill)) {
            compared.add(cosine, signal.cosine);
        }
    });
    for (skill, (signal, compared)) in signals.iter_mut().zip(&compared).enumerate() {
        if compared.count > 0.0 {
            signal.example = compared.nearest;
            signal.meaning = compared.nearness(signal.cosine, examples.learned.length(skill));
        }
    }
}
