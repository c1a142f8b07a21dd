//! Names of skills in a message: whole words, however their parts are joined.
//!
//! A message is cut into words, and runs of words are looked up, longest first from the left. This finds what an
//! Aho-Corasick automaton with checks of the neighbours would, in some 30 bytes per name instead of some 1,000.

mod words;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::fold::{Class, class_of};
use super::hash::{EMPTY, Keyed, extend, mix};
use super::ordinary::is_ordinary_word;
use super::stance::{Stance, read_stances};
use crate::pause::pause_at;
use words::{Joint, Word, split_message};

/// Returns whether a message has words to search for: emoji and punctuation ask for no skill.
pub fn has_words(message: &str) -> bool {
    message.chars().any(char::is_alphanumeric)
}

/// A skill's name that occurs in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The skill's place in the catalogue.
    pub skill: usize,
    /// Where the name stands in the message, in bytes.
    pub bytes: Range<usize>,
    /// The same in characters.
    pub chars: Range<usize>,
    /// Whether its form shows that it is a skill's name, even if it is an ordinary word: `/weather`, `` `weather` ``,
    /// "use weather", "weather skill".
    pub explicit: bool,
    /// Whether the name is one ordinary word, so that without an explicit form another signal must agree.
    pub common: bool,
    /// Whether the message calls for the skill, forbids it, or asks about it.
    pub stance: Stance,
    /// The words that the stance was read from, in bytes; `None` if the form of the name decided.
    pub cue: Option<Range<usize>>,
}

impl Mention {
    /// Returns how much it decides beside other mentions of the same skill.
    fn weight(&self) -> u8 {
        match (self.stance, &self.cue) {
            (Stance::Forbidden, _) | (Stance::Called, Some(_)) => 3,
            (Stance::Called, None) | (Stance::AskedAbout, _) => 2,
            (Stance::Named, _) => 1,
        }
    }

    /// Adds a later mention of the same skill: of two that decide, the later one counts.
    fn add(&mut self, later: Self) {
        let explicit = self.explicit || later.explicit;
        let (own, other) = (self.weight(), later.weight());
        let is_clearer = later.explicit && !self.explicit;
        if other > own || other == own && (other == 3 || is_clearer) {
            *self = later;
        }
        self.explicit = explicit;
    }
}

/// The names of a catalogue by their words.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<KnownName>,
    longest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct KnownName {
    /// Hash of the words joined by blanks.
    key: u64,
    skill: u32,
    /// Bit i: a `/` stands after word i.
    slashes: u32,
    is_alias: bool,
    is_common: bool,
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut endings: HashMap<&str, usize> = HashMap::new();
        for name in names.clone() {
            *endings.entry(last_segment(name)).or_default() += 1;
        }
        let mut found = Self::default();
        for (skill, name) in (0..).zip(names) {
            found.add(name, skill, false);
            let last = last_segment(name);
            if last != name && endings.get(last) == Some(&1) {
                found.add(last, skill, true);
            }
        }
        found.names.sort_unstable();
        found.names.shrink_to_fit();
        found
    }

    /// Bytes held.
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

    /// The skills named in a message, each once, the most specific (longest) names first.
    pub(super) fn find_mentions(&self, message: &str) -> Vec<Mention> {
        let words = split_message(message);
        let (places, mut firsts) = self.find_places(&words);
        read_stances(message, &mut firsts);
        let mut best: HashMap<u64, Mention, Keyed> = HashMap::default();
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

    /// Finds the places of names in a message, in their order, with one of the skills that each may name. Thousands of skills may
    /// have names of the same words, so they are not listed for each place.
    fn find_places(&self, words: &[Word]) -> (Vec<(Range<usize>, u64)>, Vec<Mention>) {
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

    /// The names that are made of exactly these words; one written as it is stored wins over those that only sound so.
    fn find_at(&self, words: &[Word], range: Range<usize>, key: u64) -> Vec<Mention> {
        let start = self.names.partition_point(|entry| entry.key < key);
        let named = || self.names[start..].iter().take_while(move |entry| entry.key == key);
        let run = &words[range.clone()];
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Vec::new() };
        let is_part = first.before.is_some_and(is_neighbour) || last.after.is_some_and(is_neighbour);
        if is_part || named().next().is_none() {
            return Vec::new();
        }
        let slashes = slashes_of(run);
        let in_path = range.start.checked_sub(1).is_some_and(|before| words[before].joint == Joint::Slash);
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

/// Letters and digits that run on, `_` and `-` make another word; letters of scripts without blanks do not.
fn is_neighbour(c: char) -> bool {
    matches!(c, '_' | '-') || class_of(c) == Class::Word
}

/// `/name` where a command may stand, `` `name` ``, "use name", "use the name skill", "name skill"; the name in quotes or
/// not.
fn is_explicit(words: &[Word], range: &Range<usize>) -> bool {
    let (Some(first), Some(last)) = (words.get(range.start), words.get(range.end - 1)) else { return false };
    let previous = range.start.checked_sub(1).and_then(|before| words.get(before));
    let quoted = first.before == Some('`') && last.after == Some('`');
    let used = previous.is_some_and(|word| word.text == "use" && matches!(word.joint, Joint::Blank | Joint::Quote));
    let called = matches!(last.joint, Joint::Blank | Joint::Quote)
        && words.get(range.end).is_some_and(|word| matches!(word.text.as_str(), "skill" | "skills"));
    (first.is_command && last.joint != Joint::Slash) || quoted || used || called
}

fn last_segment(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}

/// The keys of the first word, of the first two, and so on as far as they are joined, at most `longest`.
fn keys_of(words: &[Word], longest: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    let mut state = EMPTY;
    for word in words.iter().take(longest) {
        state = extend(state, word.text.as_bytes());
        keys.push(mix(state));
        if matches!(word.joint, Joint::None | Joint::Quote) {
            break;
        }
        state = extend(state, b" ");
    }
    keys
}

fn slashes_of(words: &[Word]) -> u32 {
    let joints = words.split_last().map_or(&[][..], |(_, joints)| joints);
    let bits = (0..32).zip(joints).filter(|(_, word)| word.joint == Joint::Slash);
    bits.fold(0, |mask, (bit, _)| mask | 1 << bit)
}
