//! Counter-examples: messages that a skill did not apply to. They weaken the skill for similar messages.

use super::examples::Examples;
use super::signals::Signals;

/// Maximum cosine of a counter-example that has no effect. Messages that need the skill may be as similar to it.
const FROM: f32 = 0.5;

/// Lead at which a counter-example excludes the skill. The lead is its cosine minus the highest cosine of the
/// description and the examples, or minus `FROM` if that is higher than these cosines.
const FULL: f32 = 0.15;

/// Adds the cosine of the nearest counter-example to the signals of each skill, and weakens the skill's other signals.
/// A skill that the message names is not affected, because names are not signals.
///
/// Runs after all other signals are set and before they are weighted, so that no fitted weight depends on
/// counter-examples.
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

/// Returns the factor for the skill's signals, 0 to 1. The factor is 1 if the description or an example is as near as
/// the counter-example.
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
