//! A summary for skills that have none, taken from the description.

use crate::inert::inert_line;
use crate::limits::SUMMARY_WORDS;
use crate::phrase::{shorten_sentence, trim_boilerplate};
use crate::sentence::{beginning, sentence_end};

/// Longest line, for languages that put no blanks between words.
const LINE_CHARS: usize = 160;
/// Phrases are looked for in so much of a line: one that ends farther from its start does not fit, even without what is
/// trimmed from its end.
const SEEN_CHARS: usize = LINE_CHARS + 40;

/// A summary taken from a description: its first sentence, at most 15 words, as a single line.
pub fn headline(description: &str) -> String {
    let paragraph: Vec<&str> = description.trim().lines().take_while(|line| !line.trim().is_empty()).collect();
    let text = inert_line(&paragraph.join("\n"));
    let sentence = trim_boilerplate(&text[..sentence_end(&text)]);
    // A phrase of it can end with a full stop too: before a lowercase word it ends no sentence.
    without_stop(&brief(without_stop(&sentence))).to_owned()
}

fn without_stop(text: &str) -> &str {
    text.trim_end_matches(['.', '。', ' '])
}

/// A single line in at most 15 words and 160 characters; of a longer one the phrases that fit.
pub(crate) fn brief(line: &str) -> String {
    let fits = |text: &str| text.split(' ').nth(SUMMARY_WORDS).is_none() && text.chars().nth(LINE_CHARS).is_none();
    shorten_sentence(beginning(line, SEEN_CHARS), fits)
}

#[cfg(test)]
mod tests;
