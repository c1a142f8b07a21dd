//! Tells which patterns may be in a text by the words that are in it, so that most lines are never given to a pattern.
//!
//! One search for all words of all patterns takes as long as one pattern does, and there are two hundred of them. A pattern is
//! slow beside it for another reason too: it makes its states as it goes, and each thread that searches keeps its own. The
//! idea is that of RE2's `FilteredRE2` and of Google Code Search (Russ Cox, 2012, "Regular Expression Matching with a Trigram
//! Index"), here with whole words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::needs::{AnyOf, EDGE, is_of_word};

/// The search for the words of all patterns.
pub(super) struct Prefilter {
    search: AhoCorasick,
    /// In the order of the search.
    words: Vec<Word>,
    /// By need: the patterns that are looked at once it is met.
    led_to: Vec<Vec<usize>>,
    /// By pattern: its needs, all of which a text must meet.
    needs: Vec<Vec<usize>>,
}

/// A word that is searched.
struct Word {
    /// Whether it counts only where a word begins, or ends.
    begins: bool,
    ends: bool,
    /// The needs that it meets.
    meets: Vec<usize>,
}

impl Prefilter {
    /// A search for patterns with these needs. One without any is never found.
    ///
    /// # Errors
    /// Words that are too many for the search.
    pub(super) fn of(patterns: impl Iterator<Item = Vec<AnyOf>>) -> Result<Self, aho_corasick::BuildError> {
        let mut numbers: HashMap<AnyOf, usize> = HashMap::new();
        let mut needs = Vec::new();
        for mut of_pattern in patterns {
            // The rarest one leads to the pattern: the longer its shortest word, the rarer.
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
            // A tenth of the memory of a DFA, and as quick: that one is too large for the caches of a processor.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(met_by.keys().map(|word| word.replace(EDGE, "")))?;
        let words = met_by.into_iter();
        let words =
            words.map(|(word, meets)| Word { begins: word.starts_with(EDGE), ends: word.ends_with(EDGE), meets });
        Ok(Self { search, words: words.collect(), led_to, needs })
    }

    /// The numbers of the patterns that may be in a text, in order.
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
