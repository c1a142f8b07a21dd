//! Counter-examples: messages to which a skill did not apply. They make it less likely for messages like them.

use super::examples::Examples;
use super::score::Signals;

/// A counter-example that is not nearer than this has no effect: a message that the skill is for may be as near.
const FROM: f32 = 0.5;

/// A counter-example that is nearer by so much than the description and every example rules the skill out.
const FULL: f32 = 0.15;

/// Adds the cosine to the nearest counter-example, and weakens the signals of skills that have one near, except that of the name.
///
/// Runs after all other signals are set and before they are weighed, so that no fitted weight depends on it.
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

/// Returns the share of its signals that a skill retains, 0 to 1: all of them if the description or an example is as near as the
/// counter-example.
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
