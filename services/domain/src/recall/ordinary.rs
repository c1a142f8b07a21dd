//! How ordinary a word is: English words in order of how often they are used.
//!
//! The list is the vocabulary of BERT (Devlin et al. 2019; github.com/google-research/bert, Apache-2.0), which is
//! ordered by frequency, without pieces of words, digits and names of scripts: one word per stem, the commonest first.

use std::sync::LazyLock;

use super::hash::{hash, short};
use super::tokens::list_terms;

const WORDS: &str = include_str!("ordinary_words.txt");

/// Short hashes of stems with their ranks, in order of the hash.
static RANKS: LazyLock<Vec<(u32, u16)>> = LazyLock::new(|| {
    let stem_of = |word| list_terms(word).first().map(|stem| short(hash(stem.as_bytes())));
    let mut ranks: Vec<(u32, u16)> = WORDS.lines().filter_map(stem_of).zip(1..=u16::MAX).collect();
    ranks.sort_unstable();
    ranks.dedup_by_key(|entry| entry.0);
    ranks
});

/// The rank of a term among ordinary English words, from 1 for the commonest.
pub(super) fn find_rank(term: u32) -> Option<u16> {
    let at = RANKS.binary_search_by_key(&term, |entry| entry.0).ok()?;
    RANKS.get(at).map(|entry| entry.1)
}

/// Whether a lowercase word is an ordinary English one, such as `weather` but not `kubernetes`.
pub fn is_ordinary_word(word: &str) -> bool {
    match list_terms(word).as_slice() {
        [] => true,
        [term] => find_rank(short(hash(term.as_bytes()))).is_some(),
        _ => false,
    }
}

/// How rare a word is in any text, about 0 for the commonest to 7; none for stop words.
pub fn find_rarity(word: &str) -> Option<f32> {
    list_terms(word).iter().map(|term| rarity(short(hash(term.as_bytes())))).reduce(f32::max)
}

/// What a term weighs by its rank alone: about the logarithm of how rare it is in any text.
///
/// By Zipf's law a word's frequency falls with its rank; a word that is not listed is as rare as the last.
pub(super) fn rarity(term: u32) -> f32 {
    const UNLISTED: f32 = 30_000.0;
    const COMMON: f32 = 30.0;
    (find_rank(term).map_or(UNLISTED, f32::from) / COMMON).ln_1p()
}
