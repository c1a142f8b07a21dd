//! How much each skill answers a message: words in three fields, phrases, triggers, meaning, examples.

mod bm25;

use super::catalogue::Catalogue;
use super::examples::Examples;
use super::fitted::WORDS;
pub(super) use bm25::{Asked, add_words};

/// How a skill answers a message; all are 0 where nothing fits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// BM25 over the name.
    pub name: f32,
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
    /// How much the skill has to say: 0 without a body, near 1 for a long one.
    pub depth: f32,
}

impl Signals {
    /// The description's cosine, or nine tenths of the nearest example's where that is more, with a quarter of the
    /// former: the description keeps its say.
    pub fn meaning(&self) -> f32 {
        (self.cosine.max(0.9 * self.example) + 0.25 * self.cosine) / 1.25
    }
}

/// What is known of a message and a catalogue as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Context {
    /// Skills in the catalogue.
    pub skills: f32,
    /// Mean number of terms of a body.
    pub body_terms: f32,
    /// How rare the terms of the message are in English, together.
    pub rarity: f32,
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
    /// Logarithm of how many examples a skill has on average, and one.
    pub examples: f32,
}

impl Context {
    /// Sums up signals; `rarity` is that of the message's terms.
    pub(super) fn of(catalogue: &Catalogue, signals: &[Signals], rarity: f32, has_meaning: bool) -> Self {
        let skills = signals.len().max(1) as f32;
        let mean = |of: &dyn Fn(&Signals) -> f32| signals.iter().map(of).sum::<f32>() / skills;
        let mean_cosine = mean(&|s| s.cosine);
        Self {
            skills,
            body_terms: catalogue.body_terms,
            rarity,
            field: mean(&|s| s.cover),
            has_meaning,
            mean_cosine,
            spread: mean(&|s| (s.cosine - mean_cosine).powi(2)).sqrt(),
            ..Self::default()
        }
    }

    /// How much the message says, about 0 for a dozen ordinary words; bounded as in what the weights were fitted on.
    fn said(&self) -> f32 {
        (self.rarity.ln_1p() - 3.0).clamp(-2.0, 1.5)
    }
}

/// Weights of the signals in the score, some of which depend on the message or the skill.
pub(super) struct Fusion {
    pub(super) name: f32,
    pub(super) text: f32,
    pub(super) body: f32,
    pub(super) phrases: f32,
    pub(super) meaning: f32,
    /// More of each for a message that says much.
    pub(super) text_rarity: f32,
    pub(super) body_rarity: f32,
    pub(super) meaning_rarity: f32,
    /// More for a skill with much to say.
    pub(super) meaning_depth: f32,
}

/// A trigger phrase that is said whole counts as much as its rarity: there is nothing to fit it on, and it should beat
/// what only resembles it.
const TRIGGER: f32 = 1.0;

/// The weights for one message.
pub(super) struct Weights {
    name: f32,
    text: f32,
    body: f32,
    phrases: f32,
    meaning: f32,
    meaning_depth: f32,
}

impl Fusion {
    /// The weights for one message.
    pub(super) fn at(&self, context: &Context) -> Weights {
        let said = context.said();
        Weights {
            name: self.name,
            text: self.text + self.text_rarity * said,
            body: self.body + self.body_rarity * said,
            phrases: self.phrases,
            meaning: self.meaning + self.meaning_rarity * said,
            meaning_depth: self.meaning_depth,
        }
    }
}

impl Weights {
    pub(super) fn score(&self, signals: &Signals) -> f32 {
        self.words(signals) + (self.meaning + self.meaning_depth * signals.depth) * signals.meaning()
    }

    /// What words add to the score.
    pub(super) fn words(&self, signals: &Signals) -> f32 {
        self.name * signals.name
            + self.text * signals.text
            + self.body * signals.body
            + self.phrases * signals.phrases
            + TRIGGER * signals.trigger
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
pub(super) fn add_meaning(cosines: &[Option<f32>], rarity: f32, signals: &mut [Signals]) -> bool {
    let known = || cosines.iter().flatten().copied().filter(|cosine| cosine.is_finite());
    let count = known().count();
    if count == 0 {
        return false;
    }
    let mean = known().sum::<f32>() / count as f32;
    let best = known().fold(mean, f32::max);
    let by_words = WORDS.at(&Context { rarity, ..Context::default() });
    let best_words = signals.iter().map(|signal| by_words.words(signal)).fold(f32::MIN_POSITIVE, f32::max);
    for (skill, signal) in signals.iter_mut().enumerate() {
        let cosine = cosines.get(skill).copied().flatten().filter(|cosine| cosine.is_finite());
        signal.cosine = cosine.unwrap_or_else(|| mean + (best - mean) * by_words.words(signal) / best_words);
    }
    true
}

/// Adds the nearest examples.
pub(super) fn add_examples(examples: &Examples, embedding: &[f32], signals: &mut [Signals]) {
    examples.visit_cosines(embedding, |skill, cosine| {
        if let Some(signal) = signals.get_mut(skill) {
            signal.example = signal.example.max(cosine);
        }
    });
}
