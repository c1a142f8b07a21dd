//! Learning from use: the text of a message that becomes an example of the skill used after it, and the limits on
//! examples.

use crate::recall::{has_words, own_words};

/// Maximum number of characters in an example.
pub const EXAMPLE_CHARS: usize = 300;

/// Maximum number of examples per skill. Its counter-examples have the same maximum.
pub const EXAMPLES_PER_SKILL: usize = 16;

/// Maximum number of examples and counter-examples per user. Recall stores them in memory: about 0.8 MB with embeddings
/// of 384 dimensions.
pub const EXAMPLES_PER_USER: usize = 2000;

/// Minimum cosine between a message and small talk at which the message is not learned. An example "ok" would recall
/// the skill for every "ok".
pub const SMALL_TALK: f32 = 0.8;

/// Minimum cosine between two messages that count as the same example.
pub const SAME_MEANING: f64 = 0.93;

/// Returns the text stored as an example: the message, cut between words if it is too long. Returns `None` if the
/// message has no words.
pub fn example_text(message: &str) -> Option<&str> {
    let message = message.trim();
    if !has_words(message) {
        return None;
    }
    let Some((end, _)) = message.char_indices().nth(EXAMPLE_CHARS) else { return Some(message) };
    // The blank after the last word that fits may be the first character cut off.
    let blank = message.char_indices().take(EXAMPLE_CHARS + 1).filter(|(_, c)| c.is_whitespace()).last();
    let cut = blank.and_then(|(at, _)| message.get(..at)).map(str::trim_end).filter(|cut| cut.len() * 2 > end);
    cut.or_else(|| message.get(..end))
}

/// Returns the example text for a message in a conversation; `None` if the message is not learned. Messages that only
/// agree, refuse, choose or continue a question are not learned: "yes" would become an example of any offered skill.
/// The agent's offer is not learned either, because users phrase requests differently.
pub fn taught_text(message: &str) -> Option<&str> {
    own_words(message).and_then(example_text)
}

#[cfg(test)]
mod tests;
