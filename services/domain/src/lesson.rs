//! Learning from use: what of a message becomes an example of the skill that was used after it, and how many are kept.

use crate::recall::is_short;

/// Most characters of an example.
pub const EXAMPLE_CHARS: usize = 300;

/// Most examples of a skill.
pub const EXAMPLES_PER_SKILL: usize = 16;

/// Most examples of a user: what recall keeps of them in memory, some 0.8 MB with vectors of 384 numbers.
pub const EXAMPLES_PER_USER: usize = 2000;

/// From this cosine on a message says nothing that another example does not say.
pub const SAME_MEANING: f64 = 0.95;

/// What a message teaches: as much of it as is kept, cut between words. `None` where it is too short to be searched, as
/// nobody would be shown a skill for it.
pub fn example_text(message: &str) -> Option<&str> {
    let message = message.trim();
    if is_short(message) {
        return None;
    }
    let Some((end, _)) = message.char_indices().nth(EXAMPLE_CHARS) else { return Some(message) };
    // The blank behind the last word that fits may be the one that is left out.
    let blank = message.char_indices().take(EXAMPLE_CHARS + 1).filter(|(_, c)| c.is_whitespace()).last();
    let cut = blank.and_then(|(at, _)| message.get(..at)).map(str::trim_end).filter(|cut| !is_short(cut));
    cut.or_else(|| message.get(..end))
}

#[cfg(test)]
mod tests;
