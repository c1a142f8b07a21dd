//! Scores how well each skill answers a message: words in two fields, phrases, triggers, meaning, examples.

mod bm25;

use super::catalogue::Catalogue;
use super::examples::Examples;
use super::fitted::WORDS;
use super::learned::Compared;
use super::signals::Signals;
pub(super) use bm25::{MessageTerm, add_words};

/// Adds the phrases of a message to the signals. Runs after `add_words`, because only a body with words from the
/// message can repeat its phrases.
pub(super) fn add_phrases(catalogue: &Catalogue, phrases: &[u32], signals: &mut [Signals]) {
    for (skill, signal) in signals.iter_mut().enumerate().filter(|(_, signal)| signal.body > 0.0) {
        signal.phrases = catalogue.count_phrases(skill, phrases) as f32;
    }
}

/// Minimum total rarity of a distinctive trigger: two ordinary words or a rare one. A single ordinary word is not
/// enough.
pub(super) const TELLING_TRIGGER: f32 = 4.5;

/// Adds the distinctive triggers in a message to the signals. `term_keys` has the terms of the message in order.
pub(super) fn add_triggers(catalogue: &Catalogue, term_keys: &[u32], signals: &mut [Signals]) {
    catalogue.triggers.visit_matches(term_keys, |skill, mass| {
        if let Some(signal) = signals.get_mut(skill).filter(|_| mass >= TELLING_TRIGGER) {
            signal.trigger = signal.trigger.max(mass);
        }
    });
}

/// Adds the cosines to the signals, and returns whether there are any. A skill without an embedding gets an estimate
/// from its words, so that it can be ranked among the others.
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
        signal.is_guessed = cosine.is_none();
    }
    true
}

/// Adds the nearness to examples to the signals. Runs after the cosines are added.
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
