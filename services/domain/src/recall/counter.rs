//! Counter-examples: messages to which a skill did not apply. They make it less likely for messages like them.

use super::examples::Examples;
use super::score::Signals;

/// A counter-example that is not nearer than this has no effect: a message that the skill is for may be as near.
const FROM: f32 = 0.5;

/// A counter-example that is nearer by so much than everything that speaks for the skill rules the skill out.
const FULL: f32 = 0.15;

/// Adds the cosine to the nearest counter-example, and weakens the skills that it speaks against.
///
/// Comes after all other signals, and before they are summed up, so that no fitted weight depends on it. The name is left alone.
pub(super) fn add_counter_examples(counter_examples: &Examples, embedding: &[f32], signals: &mut [Signals]) {
    counter_examples.visit_cosines(embedding, |skill, cosine| {
        if let Some(signal) = signals.get_mut(skill) {
            signal.counter = signal.counter.max(cosine);
        }
    });
    for signal in signals.iter_mut().filter(|signal| signal.counter > 0.0) {
        weaken(signal);
    }
}

/// Returns how much is left of what speaks for a skill, 0 to 1. An example or a description that is as near as the
/// counter-example outweighs it.
fn share_left(signals: &Signals) -> f32 {
    let against = signals.counter - FROM.max(signals.cosine).max(signals.example);
    1.0 - (against / FULL).clamp(0.0, 1.0)
}

fn weaken(signals: &mut Signals) {
    let left = share_left(signals);
    for part in [
        &mut signals.text,
        &mut signals.body,
        &mut signals.phrases,
        &mut signals.trigger,
        &mut signals.cover,
        &mut signals.cosine,
        &mut signals.example,
        &mut signals.meaning,
    ] {
        *part *= left;
    }
}

#[cfg(test)]
mod tests;
