//! Selects the patterns that can match a text by the words in it, so that most lines are not searched by any pattern.
//!
//! A search for the words from all two hundred patterns takes as long as the search for a single pattern. A pattern
//! also builds automaton states while it searches, separately for each thread. The idea is from RE2's `FilteredRE2` and
//! Google Code Search (Russ Cox, 2012, "Regular Expression Matching with a Trigram Index"), here with whole words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::needs::AnyOf;
use super::words::WordSearch;

/// The start and the number of a word in a text.
pub(super) type FoundWord = (usize, u32);

/// The words in a text with their places, in the order of their starts.
#[derive(Default)]
pub(super) struct FoundWords {
    words: Vec<FoundWord>,
}

impl FoundWords {
    /// Returns the words that begin in a range.
    pub(super) fn in_range(&self, range: &Range<usize>) -> &[FoundWord] {
        let start = self.words.partition_point(|(at, _)| *at < range.start);
        let end = self.words.partition_point(|(at, _)| *at < range.end);
        &self.words[start..end]
    }
}

/// A single search for the words from all patterns.
pub(super) struct Prefilter {
    search: WordSearch,
    /// For each word in `search`, the numbers of the needs that it meets.
    met_by: Vec<Vec<usize>>,
    /// For each need, the patterns to check if a text meets the need.
    led_to: Vec<Vec<usize>>,
    /// For each pattern, the needs that a text must meet.
    needs: Vec<Vec<usize>>,
}

impl Prefilter {
    /// Makes a search for patterns with these needs. A pattern without needs is never found.
    pub(super) fn of(patterns: impl Iterator<Item = Vec<AnyOf>>) -> Self {
        let mut numbers: HashMap<AnyOf, usize> = HashMap::new();
        let mut needs = Vec::new();
        for mut of_pattern in patterns {
            // The need with the longest shortest word, which is probably the rarest, selects the pattern.
            of_pattern.sort_by_key(|need| Reverse(need.iter().map(String::len).min()));
            let with_numbers = of_pattern.into_iter().map(|need| {
                let next = numbers.len();
                *numbers.entry(need).or_insert(next)
            });
            needs.push(with_numbers.collect::<Vec<usize>>());
        }
        let mut led_to = vec![Vec::new(); numbers.len()];
        for (pattern, of_pattern) in needs.iter().enumerate() {
            of_pattern.iter().take(1).for_each(|need| led_to[*need].push(pattern));
        }
        let mut met_by: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (need, number) in &numbers {
            need.iter().for_each(|word| met_by.entry(word).or_default().push(*number));
        }
        let search = WordSearch::of(met_by.keys().copied());
        Self { search, met_by: met_by.into_values().collect(), led_to, needs }
    }

    /// Returns the numbers of the words that lead to a pattern.
    pub(super) fn words_of(&self, pattern: usize) -> impl Iterator<Item = usize> {
        let needs = &self.needs[pattern];
        let words = self.met_by.iter().enumerate();
        words.filter(|(_, met)| met.iter().any(|need| needs.contains(need))).map(|(word, _)| word)
    }

    /// Returns the number of different words.
    pub(super) fn words(&self) -> usize {
        self.met_by.len()
    }

    /// Finds the words in a text. The words replace those of an earlier text.
    pub(super) fn find(&self, text: &str, found: &mut FoundWords) {
        found.words.clear();
        self.search.each(text, |at, word| found.words.push((at, word)));
    }

    /// Returns the indices of the patterns that can match the part of the text that has the words, in order.
    pub(super) fn candidates(&self, words: &[FoundWord]) -> Vec<usize> {
        if words.is_empty() {
            return Vec::new();
        }
        let mut met = vec![false; self.led_to.len()];
        let mut candidates = Vec::new();
        for (_, word) in words {
            for need in &self.met_by[*word as usize] {
                if !std::mem::replace(&mut met[*need], true) {
                    candidates.extend_from_slice(&self.led_to[*need]);
                }
            }
        }
        candidates.retain(|pattern| self.needs[*pattern].iter().all(|need| met[*need]));
        candidates.sort_unstable();
        candidates
    }
}
