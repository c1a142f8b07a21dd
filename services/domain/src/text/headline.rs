//! Makes a summary from the description, for skills without one.

use crate::kernel::limits::SUMMARY_WORDS;
use crate::text::phrase::{shorten_sentence, trim_boilerplate};
use crate::text::sanitize::inert_line;
use crate::text::sentence::{beginning, sentence_end};

/// Maximum number of characters in a summary, for languages without blanks between words.
const LINE_CHARS: usize = 160;
/// Maximum number of characters searched for phrases. A phrase that ends later does not fit, even after its end is
/// trimmed.
const SEEN_CHARS: usize = LINE_CHARS + 40;

/// Makes a summary from a description: its first sentence, at most 15 words, on a single line.
pub fn headline(description: &str) -> String {
    let paragraph: Vec<&str> = description.trim().lines().take_while(|line| !line.trim().is_empty()).collect();
    let text = inert_line(&paragraph.join("\n"));
    let sentence = trim_boilerplate(&text[..sentence_end(&text)]);
    // A phrase may also end with a full stop, because a full stop before a lowercase word does not end a sentence.
    without_stop(&brief(without_stop(&sentence))).to_owned()
}

fn without_stop(text: &str) -> &str {
    text.trim_end_matches(['.', '。', ' '])
}

/// Shortens a line to at most 15 words and 160 characters, at the end of a phrase if possible.
pub(crate) fn brief(line: &str) -> String {
    let fits = |text: &str| text.split(' ').nth(SUMMARY_WORDS).is_none() && text.chars().nth(LINE_CHARS).is_none();
    shorten_sentence(beginning(line, SEEN_CHARS), fits)
}

#[cfg(test)]
mod tests;
