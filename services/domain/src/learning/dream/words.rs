//! Words that distinguish requests, in any language.

use std::collections::HashSet;

use crate::recall::{Class, class_of, fold, list_terms};
use crate::text::sentence::beginning;

/// Maximum number of characters read from a message. The topic is at its beginning.
const READ_CHARS: usize = 500;
/// Number of letters in a word in scripts without blanks. A letter there stands for about a syllable.
const DENSE_LETTERS: std::ops::RangeInclusive<usize> = 2..=4;

/// Words that people use to ask for anything. Stop words for recall are not repeated here.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "able", "also", "anything", "ask", "based", "current", "currently", "find", "get", "give", "going", "gonna", "good", "got",
    "hello", "help", "hey", "know", "let", "like", "look", "make", "may", "maybe", "much", "need", "okay", "one", "please",
    "possible", "really", "right", "say", "see", "show", "something", "sure", "tell", "thank", "thanks", "thing", "things",
    "think", "today", "try", "understand", "using", "wanna", "want", "wanted", "way", "well", "yes",
    "больше", "дай", "должен", "найди", "нужен", "нужна", "нужно", "пожалуйста", "покажи", "помоги", "привет", "просто",
    "расскажи", "сделай", "сейчас", "скажи", "спасибо", "хочу",
];

/// A word in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StemmedWord {
    /// The word as written, after `fold`.
    pub(super) shown: String,
    /// Stem shared by all forms of the word.
    pub(super) term: String,
    /// Whether the word is a piece of a text without blanks; its word boundaries are unknown.
    pub(super) is_dense: bool,
}

/// Returns the distinctive words in a text in order, without duplicate terms. A word between blanks needs at least
/// `letters` letters. Stop words and the words in [`ASKING`] are left out.
pub(super) fn list_words(text: &str, letters: usize) -> Vec<StemmedWord> {
    let mut words = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |word: StemmedWord| {
        if seen.insert(word.term.clone()) {
            words.push(word);
        }
    };
    each_run(beginning(text, READ_CHARS), |run, class| match class {
        Class::Gap => {}
        Class::Word => read_word(run, letters).into_iter().for_each(&mut add),
        Class::Dense => each_dense_word(&fold(run), &mut add),
    });
    words
}

/// Calls `visit` with each run of characters of one class.
fn each_run(text: &str, mut visit: impl FnMut(&str, Class)) {
    let (mut start, mut class) = (0, Class::Gap);
    for (at, c) in text.char_indices() {
        let next = class_of(c);
        if next != class {
            visit(&text[start..at], class);
            (start, class) = (at, next);
        }
    }
    visit(&text[start..], class);
}

fn read_word(run: &str, letters: usize) -> Option<StemmedWord> {
    let shown = fold(run).into_owned();
    let is_long = shown.chars().filter(|c| c.is_alphabetic()).count() >= letters;
    if !is_long || ASKING.contains(&shown.as_str()) {
        return None;
    }
    let term = list_terms(&shown).into_iter().next()?;
    Some(StemmedWord { shown, term, is_dense: false })
}

fn each_dense_word(run: &str, add: &mut impl FnMut(StemmedWord)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    for letters in DENSE_LETTERS {
        for ends in starts.windows(letters + 1) {
            let piece = &run[ends[0]..ends[letters]];
            add(StemmedWord { shown: piece.to_owned(), term: piece.to_owned(), is_dense: true });
        }
    }
}

#[cfg(test)]
mod tests;
