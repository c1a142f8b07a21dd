//! How much of what two texts say is worded alike.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::recall::list_terms;
use crate::sentence::beginning;

/// So many words in a row make a passage: single words are shared by all texts of a field.
const PASSAGE_WORDS: usize = 3;
/// So much of a text is read; what a skill does stands at its beginning.
const READ_CHARS: usize = 8_000;

/// The passages of a text, as hashes, sorted.
pub(super) struct Passages(Vec<u64>);

impl Passages {
    /// Reads the passages of the first 8,000 characters, without stop words and the ends of words.
    pub(super) fn read(text: &str) -> Self {
        let terms = list_terms(beginning(text, READ_CHARS));
        let mut passages: Vec<u64> = terms.windows(PASSAGE_WORDS).map(hash).collect();
        passages.sort_unstable();
        passages.dedup();
        Self(passages)
    }

    /// The passages that both have, as a part of those that any of them has; 0 where neither has any.
    pub(super) fn share_with(&self, other: &Self) -> f32 {
        let shared = self.0.iter().filter(|passage| other.0.binary_search(passage).is_ok()).count();
        let all = self.0.len() + other.0.len() - shared;
        shared as f32 / all.max(1) as f32
    }
}

/// The same on every run: the hasher has fixed keys.
fn hash(terms: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    terms.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
