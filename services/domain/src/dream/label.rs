//! Names for groups of texts, made of the words that set them apart.

use std::collections::BTreeMap;

use super::words::{Word, list_words};

/// So many words name a group.
const LABEL_WORDS: usize = 3;
/// Shorter words than a frequent term has: beside others of a group, `oil` says much.
const WORD_LETTERS: usize = 3;

/// The words of some texts.
pub(super) struct Labels {
    texts: Vec<Vec<Word>>,
    /// In how many texts each term comes.
    counts: BTreeMap<String, usize>,
}

impl Labels {
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let texts: Vec<Vec<Word>> = texts.map(|text| list_words(text, WORD_LETTERS)).collect();
        let mut counts = BTreeMap::new();
        for word in texts.iter().flatten() {
            *counts.entry(word.term.clone()).or_default() += 1;
        }
        Self { texts, counts }
    }

    /// Up to three words that come in the most texts of a group, at least in two of them, and seldom elsewhere; the words of
    /// its first text with words where the texts share none.
    ///
    /// Of words that weigh the same the longer comes first: in scripts without blanks it is the whole of the shorter.
    pub(super) fn name(&self, group: &[usize]) -> String {
        let mut inside: BTreeMap<&str, (usize, &Word)> = BTreeMap::new();
        for word in group.iter().flat_map(|at| &self.texts[*at]) {
            inside.entry(&word.term).or_insert((0, word)).0 += 1;
        }
        let mut shared: Vec<(f32, &Word)> = inside
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
            // In scripts without blanks, pieces of a word that is already named say nothing new.
            let is_piece = word.is_dense && words.iter().any(|named| overlaps(named, &word.shown));
            if !is_piece && words.len() < LABEL_WORDS {
                words.push(&word.shown);
            }
        }
        words.join(" ")
    }

    /// More for words that come in more texts of the group, and in few of all others.
    fn weigh(&self, inside: usize, term: &str) -> f32 {
        let everywhere = self.counts.get(term).copied().unwrap_or(inside).max(1);
        inside as f32 * (1.0 + self.texts.len() as f32 / everywhere as f32).ln()
    }
}

/// Whether two words have two letters in a row in common.
fn overlaps(a: &str, b: &str) -> bool {
    let letters: Vec<char> = b.chars().collect();
    letters.windows(2).any(|pair| a.contains(&String::from_iter(pair)))
}

#[cfg(test)]
mod tests;
