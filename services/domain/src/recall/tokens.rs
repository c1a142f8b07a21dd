//! Splits text in any language into terms. Words are folded and stemmed; scripts without spaces are split into letter
//! pairs.

use std::borrow::Cow;
use std::collections::HashMap;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::fold::{Class, class_of, fold};
use super::hash::{KeyHashBuilder, hash, short};
use super::stop_words::is_stop_word;

/// Maximum number of bytes in a word. Longer runs of letters are encoded data.
const WORD_BYTES: usize = 64;

/// Maximum number of distinct terms, and maximum number of phrases, that a search reads from a message. The first terms
/// of a long text show its subject.
pub(super) const MESSAGE_TERMS: usize = 512;

/// Returns the stemmed terms in a text, in order, without punctuation and stop words.
pub fn list_terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_term(text, |term, _| found.push(term.to_owned()));
    found
}

/// Returns the short hashes of the terms in a text, in order.
pub(super) fn list_keys(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    each_term(text, |term, _| found.push(short(hash(term.as_bytes()))));
    found
}

/// Returns the distinct stemmed terms in a text, sorted.
pub fn list_distinct_terms(text: &str) -> Vec<String> {
    let mut terms = list_terms(text);
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Calls `visit` with each term in a text, in order.
pub(super) fn each_term(text: &str, mut visit: impl FnMut(&str, TermShape)) {
    let stems = Stems::default();
    each_word(text, |word, shape| match shape {
        TermShape::Pair => visit(word, shape),
        TermShape::Word => {
            if let Some(term) = stems.stem(&fold(word)) {
                visit(&term, shape);
            }
        }
    });
}

/// Kind of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermShape {
    /// A word, or its stem.
    Word,
    /// A folded letter, or a pair of folded letters, of a script without spaces.
    Pair,
}

/// The numbers of the terms in many texts, with a cache of the stems of words.
#[derive(Default)]
pub(super) struct Vocabulary {
    stems: Stems,
    words: HashMap<u64, Option<u32>, KeyHashBuilder>,
    numbers: HashMap<u64, u32, KeyHashBuilder>,
    terms: Vec<u32>,
}

impl Vocabulary {
    /// Calls `visit` with the number of each term in a text, in order.
    pub(super) fn visit(&mut self, text: &str, mut visit: impl FnMut(usize, TermShape)) {
        let Self { stems, words, numbers, terms } = self;
        let mut number_of = |term: &[u8]| {
            let key = hash(term);
            *numbers.entry(key).or_insert_with(|| {
                terms.push(short(key));
                u32::try_from(terms.len() - 1).unwrap_or(u32::MAX)
            })
        };
        each_word(text, |word, shape| {
            let number = match shape {
                TermShape::Pair => Some(number_of(word.as_bytes())),
                TermShape::Word => *words
                    .entry(hash(word.as_bytes()))
                    .or_insert_with(|| stems.stem(&fold(word)).map(|stem| number_of(stem.as_bytes()))),
            };
            if let Some(number) = number {
                visit(number as usize, shape);
            }
        });
    }

    /// Returns the short hash of each term, indexed by its number.
    pub(super) fn terms(&self) -> &[u32] {
        &self.terms
    }
}

struct Stems {
    english: Stemmer,
    russian: Stemmer,
}

impl Default for Stems {
    fn default() -> Self {
        Self { english: Stemmer::create(Algorithm::English), russian: Stemmer::create(Algorithm::Russian) }
    }
}

impl Stems {
    /// Returns the stem of a folded word; `None` for stop words and overlong words.
    fn stem<'a>(&self, word: &'a str) -> Option<Cow<'a, str>> {
        if word.is_empty() || word.len() > WORD_BYTES || is_stop_word(word) {
            return None;
        }
        if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) {
            return Some(self.english.stem(word));
        }
        if word.chars().all(|c| matches!(c, '\u{400}'..='\u{45f}')) {
            return Some(self.russian.stem(word));
        }
        Some(Cow::Borrowed(word))
    }
}

fn each_word(text: &str, mut visit: impl FnMut(&str, TermShape)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        if at < bytes.len() && !bytes[at].is_ascii() {
            at = visit_foreign(text, start, &mut visit);
        } else if at > start {
            visit_plain(&text[start..at], &mut visit);
        } else {
            at += 1;
        }
    }
}

/// Visits an ASCII word. If capitals join several words, as in `pullRequest`, also visits the parts.
///
/// A word that begins with a capital is not split, because `GitHub` is not about `git`.
fn visit_plain(word: &str, visit: &mut impl FnMut(&str, TermShape)) {
    visit(word, TermShape::Word);
    let bytes = word.as_bytes();
    if !bytes[0].is_ascii_lowercase() || word.len() > WORD_BYTES || !bytes.iter().any(u8::is_ascii_uppercase) {
        return;
    }
    let mut start = 0;
    for at in 1..=bytes.len() {
        if at == bytes.len() || (bytes[at].is_ascii_uppercase() && !bytes[at - 1].is_ascii_uppercase()) {
            if at - start > 1 {
                visit(&word[start..at], TermShape::Word);
            }
            start = at;
        }
    }
}

/// Visits the runs from `start` up to the next gap, and returns the position after it.
fn visit_foreign(text: &str, start: usize, visit: &mut impl FnMut(&str, TermShape)) -> usize {
    let mut run = start;
    let mut kind = Class::Gap;
    for (offset, c) in text[start..].char_indices() {
        let class = class_of(c);
        if class == kind && class != Class::Gap {
            continue;
        }
        visit_run(&text[run..start + offset], kind, visit);
        (run, kind) = (start + offset, class);
        if class == Class::Gap {
            return run + c.len_utf8();
        }
    }
    visit_run(&text[run..], kind, visit);
    text.len()
}

fn visit_run(run: &str, kind: Class, visit: &mut impl FnMut(&str, TermShape)) {
    match kind {
        Class::Gap => {}
        Class::Word => visit(run, TermShape::Word),
        Class::Dense => visit_dense(&fold(run), visit),
    }
}

/// Visits single letters, so that one-letter words match, and pairs of letters, so that their order matters.
fn visit_dense(run: &str, visit: &mut impl FnMut(&str, TermShape)) {
    let mut last = None;
    for (at, c) in run.char_indices() {
        let end = at + c.len_utf8();
        visit(&run[at..end], TermShape::Pair);
        if let Some(before) = last {
            visit(&run[before..end], TermShape::Pair);
        }
        last = Some(at);
    }
}
