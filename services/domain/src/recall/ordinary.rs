//! Frequency ranks of common English words.
//!
//! The list is the vocabulary of BERT (Devlin et al. 2019; github.com/google-research/bert, Apache-2.0), which is
//! ordered by frequency. Word pieces, digits and names of scripts are removed; each stem occurs once, at the rank of
//! its most common word.

use std::sync::LazyLock;

use super::hash::{hash, short};
use super::tokens::list_terms;

const WORDS: &str = include_str!("ordinary_words.txt");

/// Short hashes of stems with their ranks, sorted by hash.
static RANKS: LazyLock<Vec<(u32, u16)>> = LazyLock::new(|| {
    let stem_of = |word| list_terms(word).first().map(|stem| short(hash(stem.as_bytes())));
    let mut ranks: Vec<(u32, u16)> = WORDS.lines().filter_map(stem_of).zip(1..=u16::MAX).collect();
    ranks.sort_unstable();
    ranks.dedup_by_key(|entry| entry.0);
    ranks
});

/// Returns the rank of a term among common English words, from 1 for the most common.
pub(super) fn find_rank(term: u32) -> Option<u16> {
    let at = RANKS.binary_search_by_key(&term, |entry| entry.0).ok()?;
    RANKS.get(at).map(|entry| entry.1)
}

/// Returns whether a lowercase word is a common English word, such as `weather` but not `kubernetes`.
pub fn is_ordinary_word(word: &str) -> bool {
    match list_terms(word).as_slice() {
        [] => true,
        [term] => find_rank(short(hash(term.as_bytes()))).is_some(),
        _ => false,
    }
}

/// Returns the rarity of a word in general text, from about 0 (most common) to 7; `None` for stop words.
pub fn find_rarity(word: &str) -> Option<f32> {
    list_terms(word).iter().map(|term| rarity(short(hash(term.as_bytes())))).reduce(f32::max)
}

/// Returns the rarity of a term by its rank: about the logarithm of its inverse frequency in general text.
///
/// By Zipf's law the frequency falls with the rank. An unlisted word is about as rare as the last listed word.
pub(super) fn rarity(term: u32) -> f32 {
    const UNLISTED: f32 = 30_000.0;
    const COMMON: f32 = 30.0;
    (find_rank(term).map_or(UNLISTED, f32::from) / COMMON).ln_1p()
}
