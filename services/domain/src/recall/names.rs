//! Finds the names of skills in a message. A name matches whole words, with any separators between them.
//!
//! Runs of words are looked up by hash, the longest first, from left to right. An Aho-Corasick automaton with word
//! boundaries would give the same matches, but take about 1,000 bytes for a name instead of 30.

mod words;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::fold::{Class, class_of};
use super::hash::{EMPTY, KeyHashBuilder, extend, mix};
use super::mention::{Mention, Stance};
use super::ordinary::is_ordinary_word;
use super::stance::read_stances;
use crate::learning::pause::pause_at;
use words::{MessageWord, WordSeparator, split_message};

/// Returns whether a message has words to search for: emoji and punctuation never match a skill.
pub fn has_words(message: &str) -> bool {
    message.chars().any(char::is_alphanumeric)
}

/// The names of a catalogue, indexed by the hash of their words.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<KnownName>,
    longest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct KnownName {
    /// Hash of the words joined by spaces.
    key: u64,
    skill: u32,
    /// Bit `i` is set if a `/` follows word `i`.
    slashes: u32,
    is_alias: bool,
    is_common: bool,
}

impl Names {
    /// Indexes the names of skills. A skill is also found by its alias and by the last segment of its name, unless
    /// another skill has the same name or alias.
    pub(super) fn new<'a>(names: impl Iterator<Item = (&'a str, Option<&'a str>)> + Clone) -> Self {
        let mut endings: HashMap<&str, usize> = HashMap::new();
        for (name, alias) in names.clone() {
            for ending in [Some(last_segment(name)), alias].into_iter().flatten() {
                *endings.entry(ending).or_default() += 1;
            }
        }
        let mut found = Self::default();
        for (skill, (name, alias)) in (0..).zip(names) {
            found.add(name, skill, false);
            if let Some(alias) = alias.filter(|alias| endings.get(alias) == Some(&1)) {
                found.add(alias, skill, true);
            }
            let last = last_segment(name);
            if last != name && endings.get(last) == Some(&1) {
                found.add(last, skill, true);
            }
        }
        found.names.sort_unstable();
        found.names.shrink_to_fit();
        found
    }

    /// Returns the memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        self.names.capacity() * size_of::<KnownName>()
    }

    fn add(&mut self, name: &str, skill: u32, is_alias: bool) {
        let words = split_message(name);
        let keys = keys_of(&words, words.len());
        let Some(key) = keys.last().filter(|_| keys.len() == words.len()).copied() else { return };
        self.longest = self.longest.max(words.len());
        let is_common = matches!(words.as_slice(), [word] if is_ordinary_word(&word.text));
        self.names.push(KnownName { key, skill, slashes: slashes_of(&words), is_alias, is_common });
    }

    /// Returns the skills that a message names, each once. The most specific (longest) names come first.
    pub(super) fn find_mentions(&self, message: &str) -> Vec<Mention> {
        let words = split_message(message);
        let (places, mut firsts) = self.find_places(&words);
        read_stances(message, &mut firsts);
        let mut best: HashMap<u64, Mention, KeyHashBuilder> = HashMap::default();
        for (step, ((range, key), first)) in places.into_iter().zip(firsts).enumerate() {
            pause_at(step);
            for mention in self.find_at(&words, range, key) {
                let mention =
                    Mention { explicit: first.explicit, stance: first.stance, cue: first.cue.clone(), ..mention };
                match best.entry(mention.skill as u64) {
                    Entry::Vacant(free) => drop(free.insert(mention)),
                    Entry::Occupied(mut known) => known.get_mut().add(mention),
                }
            }
        }
        let mut mentions: Vec<Mention> = best.into_values().collect();
        mentions.sort_by_key(|mention| (Reverse(mention.chars.len()), mention.bytes.start, mention.skill));
        mentions
    }

    /// Returns the ranges of names in a message, in order, each with one of its skills. A range does not list all of
    /// its skills, because thousands of skills may have names with the same words.
    fn find_places(&self, words: &[MessageWord]) -> (Vec<(Range<usize>, u64)>, Vec<Mention>) {
        let (mut places, mut firsts) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < words.len() {
            pause_at(at);
            let keys = keys_of(&words[at..], self.longest);
            let found = (1..=keys.len()).rev().find_map(|length| {
                let first = self.find_at(words, at..at + length, keys[length - 1]).into_iter().next()?;
                Some((first, length))
            });
            let Some((first, length)) = found else {
                at += 1;
                continue;
            };
            places.push((at..at + length, keys[length - 1]));
            firsts.push(first);
            at += length;
        }
        (places, firsts)
    }

    /// Returns the skills that have exactly these words as a name. Names with the same slashes as the message win over
    /// names with other slashes.
    fn find_at(&self, words: &[MessageWord], range: Range<usize>, key: u64) -> Vec<Mention> {
        let start = self.names.partition_point(|entry| entry.key < key);
        let named = || self.names[start..].iter().take_while(move |entry| entry.key == key);
        let run = &words[range.clone()];
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Vec::new() };
        let is_part = first.before.is_some_and(is_neighbour) || last.after.is_some_and(is_neighbour);
        if is_part || named().next().is_none() {
            return Vec::new();
        }
        let slashes = slashes_of(run);
        let in_path = range.start.checked_sub(1).is_some_and(|before| words[before].separator == WordSeparator::Slash);
        let fits = |entry: &&KnownName| slashes & !entry.slashes == 0 && !(entry.is_alias && in_path);
        let exact = named().any(|entry| entry.slashes == slashes && slashes != 0);
        let explicit = is_explicit(words, &range);
        named()
            .filter(fits)
            .filter(|entry| !exact || entry.slashes == slashes)
            .map(|entry| Mention {
                skill: entry.skill as usize,
                bytes: first.bytes.start..last.bytes.end,
                chars: first.chars.start..last.chars.end,
                explicit,
                common: entry.is_common,
                stance: Stance::Named,
                cue: None,
            })
            .collect()
    }
}

/// Returns whether a character next to a name makes the name part of a longer word. Letters of scripts without spaces
/// do not make it part of a longer word.
fn is_neighbour(c: char) -> bool {
    matches!(c, '_' | '-') || class_of(c) == Class::Word
}

/// Returns whether the form shows that a skill is meant: `/name` at the start of a command, `` `name` ``, "use name",
/// "use the name skill", "name skill", `skill://name`. The name may be quoted.
fn is_explicit(words: &[MessageWord], range: &Range<usize>) -> bool {
    let (Some(first), Some(last)) = (words.get(range.start), words.get(range.end - 1)) else { return false };
    let previous = range.start.checked_sub(1).and_then(|before| words.get(before));
    let quoted = first.before == Some('`') && last.after == Some('`');
    let used = previous.is_some_and(|word| {
        word.text == "use" && matches!(word.separator, WordSeparator::Blank | WordSeparator::Quote)
    });
    let called = matches!(last.separator, WordSeparator::Blank | WordSeparator::Quote)
        && words.get(range.end).is_some_and(|word| matches!(word.text.as_str(), "skill" | "skills"));
    let addressed = previous.is_some_and(|word| word.text == "skill" && word.separator == WordSeparator::Scheme);
    (first.is_command && last.separator != WordSeparator::Slash) || quoted || used || called || addressed
}

fn last_segment(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}

/// Returns the hashes of the first word, the first two words, and so on, up to `longest` words or a separator that
/// ends a name.
fn keys_of(words: &[MessageWord], longest: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    let mut state = EMPTY;
    for word in words.iter().take(longest) {
        state = extend(state, word.text.as_bytes());
        keys.push(mix(state));
        if matches!(word.separator, WordSeparator::None | WordSeparator::Quote | WordSeparator::Scheme) {
            break;
        }
        state = extend(state, b" ");
    }
    keys
}

fn slashes_of(words: &[MessageWord]) -> u32 {
    let joints = words.split_last().map_or(&[][..], |(_, joints)| joints);
    let bits = (0..32).zip(joints).filter(|(_, word)| word.separator == WordSeparator::Slash);
    bits.fold(0, |mask, (bit, _)| mask | 1 << bit)
}
