//! Selects the patterns that can match a text by the words in it, so that most lines are not searched by any pattern.
//!
//! A search for the words from all two hundred patterns takes as long as the search for a single pattern. A pattern
//! also builds automaton states while it searches, separately for each thread. The idea is from RE2's `FilteredRE2` and
//! Google Code Search (Russ Cox, 2012, "Regular Expression Matching with a Trigram Index"), here with whole words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::needs::{AnyOf, EDGE, is_of_word};

/// A single search for the words from all patterns.
pub(super) struct Prefilter {
    search: AhoCorasick,
    /// Words by their number in `search`.
    words: Vec<PrefilterWord>,
    /// For each need, the patterns to check if a text meets the need.
    led_to: Vec<Vec<usize>>,
    /// For each pattern, the needs that a text must meet.
    needs: Vec<Vec<usize>>,
}

/// A searched word.
struct PrefilterWord {
    /// Whether the word must begin, or end, at a word boundary.
    begins: bool,
    ends: bool,
    /// Numbers of the needs that the word meets.
    meets: Vec<usize>,
}

impl Prefilter {
    /// Makes a search for patterns with these needs. A pattern without needs is never found.
    ///
    /// # Errors
    /// If there are too many words for the search.
    pub(super) fn of(patterns: impl Iterator<Item = Vec<AnyOf>>) -> Result<Self, aho_corasick::BuildError> {
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
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            // An NFA takes a tenth of a DFA's memory and is as fast, because a DFA does not fit into the processor's
            // caches.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(met_by.keys().map(|word| word.replace(EDGE, "")))?;
        let words = met_by.into_iter();
        let words = words.map(|(word, meets)| PrefilterWord {
            begins: word.starts_with(EDGE),
            ends: word.ends_with(EDGE),
            meets,
        });
        Ok(Self { search, words: words.collect(), led_to, needs })
    }

    /// Returns the indices of the patterns that can match a text, in order.
    pub(super) fn candidates(&self, text: &str) -> Vec<usize> {
        let bytes = text.as_bytes();
        let is_edge = |at: usize| {
            let is_of_word = |at: usize| bytes.get(at).copied().is_some_and(is_of_word);
            at.checked_sub(1).is_some_and(is_of_word) != is_of_word(at)
        };
        let mut met = vec![false; self.led_to.len()];
        let mut candidates = Vec::new();
        for found in self.search.find_overlapping_iter(text) {
            let word = &self.words[found.pattern().as_usize()];
            if (word.begins && !is_edge(found.start())) || (word.ends && !is_edge(found.end())) {
                continue;
            }
            for need in &word.meets {
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
