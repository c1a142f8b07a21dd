//! Labels groups of texts by the words that distinguish them.

use std::collections::BTreeMap;

use super::words::{StemmedWord, list_words};

/// Maximum number of words in a label.
const LABEL_WORDS: usize = 3;
/// Minimum number of letters in a word. It is smaller than for frequent terms, because short words such as `oil` are
/// distinctive within a group.
const WORD_LETTERS: usize = 3;

/// Words in the texts to label.
pub(super) struct Labels {
    texts: Vec<Vec<StemmedWord>>,
    /// Number of texts with each term.
    counts: BTreeMap<String, usize>,
}

impl Labels {
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let texts: Vec<Vec<StemmedWord>> = texts.map(|text| list_words(text, WORD_LETTERS)).collect();
        let mut counts = BTreeMap::new();
        for word in texts.iter().flatten() {
            *counts.entry(word.term.clone()).or_default() += 1;
        }
        Self { texts, counts }
    }

    /// Returns at most three words that label a group. They occur in at least two of its texts, in most of them if
    /// possible, and rarely in other texts. If the texts share no words, returns words from the first text that has
    /// any.
    ///
    /// Among words with equal weight the longer comes first, because in scripts without blanks it may contain the
    /// shorter.
    pub(super) fn name(&self, group: &[usize]) -> String {
        let mut inside: BTreeMap<&str, (usize, &StemmedWord)> = BTreeMap::new();
        for word in group.iter().flat_map(|at| &self.texts[*at]) {
            inside.entry(&word.term).or_insert((0, word)).0 += 1;
        }
        let mut shared: Vec<(f32, &StemmedWord)> = inside
            .values()
            .filter(|(count, _)| *count > 1)
            .map(|(count, word)| (self.weigh(*count, &word.term), *word))
            .collect();
        shared.sort_by(|a, b| {
            let longer = || b.1.shown.len().cmp(&a.1.shown.len());
            b.0.total_cmp(&a.0).then_with(longer).then_with(|| a.1.term.cmp(&b.1.term))
        });
        let mut words: Vec<&str> = Vec::new();
        let first = || group.iter().map(|at| &self.texts[*at]).find(|words| !words.is_empty());
        let only = if shared.is_empty() { first().into_iter().flatten().collect() } else { Vec::new() };
        for word in shared.into_iter().map(|(_, word)| word).chain(only) {
            // In scripts without spaces, skip a word that shares two consecutive letters with a word already in the
            // label.
            let is_piece = word.is_dense && words.iter().any(|named| overlaps(named, &word.shown));
            if !is_piece && words.len() < LABEL_WORDS {
                words.push(&word.shown);
            }
        }
        words.join(" ")
    }

    /// Returns a word's weight. It grows with the number of texts in the group that have the word, and falls with the
    /// number of all texts that have it.
    fn weigh(&self, inside: usize, term: &str) -> f32 {
        let everywhere = self.counts.get(term).copied().unwrap_or(inside).max(1);
        inside as f32 * (1.0 + self.texts.len() as f32 / everywhere as f32).ln()
    }
}

/// Returns whether two words have two consecutive letters in common.
fn overlaps(a: &str, b: &str) -> bool {
    let letters: Vec<char> = b.chars().collect();
    letters.windows(2).any(|pair| a.contains(&String::from_iter(pair)))
}

#[cfg(test)]
mod tests;
