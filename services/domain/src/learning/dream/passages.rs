//! Compares texts by their common passages.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::recall::list_terms;
use crate::text::sentence::beginning;

/// Number of words in a passage. Single words are too common, because all texts about a subject share them.
const PASSAGE_WORDS: usize = 3;
/// Maximum number of characters read from a text. The beginning is enough, because it describes the skill.
const READ_CHARS: usize = 8_000;

/// Passages of a text, as sorted hashes.
pub(super) struct PassageHashes(Vec<u64>);

impl PassageHashes {
    /// Hashes the passages of the first `READ_CHARS` characters, without stop words and word endings.
    pub(super) fn read(text: &str) -> Self {
        let terms = list_terms(beginning(text, READ_CHARS));
        let mut passages: Vec<u64> = terms.windows(PASSAGE_WORDS).map(hash).collect();
        passages.sort_unstable();
        passages.dedup();
        Self(passages)
    }

    /// Returns the share of passages that both texts have (Jaccard index); 0 if the texts have no passages.
    pub(super) fn share_with(&self, other: &Self) -> f32 {
        let shared = self.0.iter().filter(|passage| other.0.binary_search(passage).is_ok()).count();
        let all = self.0.len() + other.0.len() - shared;
        shared as f32 / all.max(1) as f32
    }
}

/// Hashes with fixed keys, so that the result is the same on every run.
fn hash(terms: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    terms.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
