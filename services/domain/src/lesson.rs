//! Learning from use: what of a message becomes an example of the skill that was used after it, and how many are kept.

use crate::recall::{has_words, own_words};

/// Most characters of an example.
pub const EXAMPLE_CHARS: usize = 300;

/// Most examples of a skill, and most counter-examples of it.
pub const EXAMPLES_PER_SKILL: usize = 16;

/// Most examples and counter-examples of a user together: what recall keeps of them in memory, some 0.8 MB with vectors of 384 numbers.
pub const EXAMPLES_PER_USER: usize = 2000;

/// From this cosine to small talk on, a message teaches nothing: "ok" would bring the skill for every "ok".
pub const SMALL_TALK: f32 = 0.8;

/// From this cosine on a message says nothing that another example does not say.
pub const SAME_MEANING: f64 = 0.93;

/// Returns what a message teaches: as much of it as is stored, cut between words. `None` if it has no words.
pub fn example_text(message: &str) -> Option<&str> {
    let message = message.trim();
    if !has_words(message) {
        return None;
    }
    let Some((end, _)) = message.char_indices().nth(EXAMPLE_CHARS) else { return Some(message) };
    // The blank behind the last word that fits may be the one that is left out.
    let blank = message.char_indices().take(EXAMPLE_CHARS + 1).filter(|(_, c)| c.is_whitespace()).last();
    let cut = blank.and_then(|(at, _)| message.get(..at)).map(str::trim_end).filter(|cut| cut.len() * 2 > end);
    cut.or_else(|| message.get(..end))
}

/// Returns the text that a message of a conversation teaches. A message that only agrees, refuses, chooses or continues a question
/// teaches nothing: "yes" would become an example of any skill that was offered. The agent's offer is not taught instead, as users
/// do not ask in its words.
pub fn taught_text(message: &str) -> Option<&str> {
    own_words(message).and_then(example_text)
}

#[cfg(test)]
mod tests;
