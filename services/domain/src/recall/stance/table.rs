//! The table of cues: phrases that show how a message refers to a named skill.

use std::collections::HashMap;
use std::sync::LazyLock;

use strum::{EnumString, IntoStaticStr};

use crate::recall::fold::{Class, class_of, fold};

const CUES: &str = include_str!("cues.txt");

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(CUES));

/// Effect of a phrase on a name in its clause. The name follows the phrase; for kinds that end in "after", it
/// precedes the phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum CueKind {
    /// Forbids all names after the phrase in the clause: "never".
    Forbid,
    /// Negates only the next verb or name: "can't".
    Not,
    /// Excludes the next name, or the next verb and its name: "without", "instead of".
    Exclude,
    /// Negates without forbidding: "I can't", "I don't know".
    Unclear,
    /// Calls a skill, and marks an ordinary word after it as the skill's name: "use".
    Use,
    /// Calls a skill with a name that is not an ordinary word: "run".
    Call,
    /// Asks about the name: "what does".
    Ask,
    /// Asks about the name directly after the phrase: "explain how X works".
    AskNext,
    /// Asks about the name, but only at the beginning of a clause: "is".
    AskStart,
    UseAfter,
    CallAfter,
    AskAfter,
    ForbidAfter,
    /// A negated verb of using. It marks an ordinary word before it as a skill's name.
    ForbidUseAfter,
    /// Resembles another cue but has no effect: "not only", "don't forget".
    Harmless,
    /// Turns a negation into a suggestion or a question: "why".
    Why,
    /// Begins a clause: "but".
    Border,
    /// Begins a clause if a verb or a negation follows: "so".
    SoftBorder,
    /// Continues the previous clause despite a comma before it: "dass".
    Join,
    /// Joins two names: "and".
    And,
    /// Does not count as distance: "the", "please".
    Filler,
    /// A filler that calls the skill if the clause has no other words: "X please".
    Please,
}

/// A set of kinds, because a phrase may mean different things in two languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CueKinds(u32);

impl CueKinds {
    pub(super) fn has(self, kind: CueKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    pub(super) fn has_any(self, kinds: &[CueKind]) -> bool {
        kinds.iter().any(|kind| self.has(*kind))
    }

    fn of(kind: CueKind) -> Self {
        let mut kinds = Self::default();
        kinds.add(kind);
        kinds
    }

    fn add(&mut self, kind: CueKind) {
        self.0 |= 1 << kind as u32;
        if kind == CueKind::Please {
            self.add(CueKind::Filler);
        }
    }
}

/// A phrase, split into words. Letters of scripts without spaces are words of their own.
struct CuePhrase {
    words: Vec<String>,
    /// Whether the last word matches every word that begins with it.
    is_open: bool,
    kinds: CueKinds,
}

/// Maximum number of fillers that are skipped within a phrase.
const SKIPPED: usize = 2;

/// The phrases, indexed by their first word.
pub(super) struct Table {
    phrases: HashMap<String, Vec<CuePhrase>>,
}

impl Table {
    /// Returns the table of all languages.
    pub(super) fn get() -> &'static Self {
        &TABLE
    }

    fn parse(text: &str) -> Self {
        let mut table = Self { phrases: HashMap::new() };
        let mut kind = None;
        for line in text.lines().filter(|line| !line.starts_with(['#', '['])) {
            let listed = match line.split_once(':') {
                Some((name, listed)) => {
                    kind = name.parse().ok();
                    listed
                }
                None => line,
            };
            for phrase in listed.split(',').map(str::trim).filter(|phrase| !phrase.is_empty()) {
                if let Some(kind) = kind {
                    table.add(phrase, kind);
                }
            }
        }
        // Longer phrases come first, because the longest match wins.
        table.phrases.values_mut().for_each(|list| list.sort_by_key(|phrase| std::cmp::Reverse(phrase.words.len())));
        table
    }

    fn add(&mut self, phrase: &str, kind: CueKind) {
        let (phrase, is_open) = phrase.strip_suffix('*').map_or((phrase, false), |stem| (stem, true));
        let joined = phrase.replace('\'', "");
        for spelling in if joined == phrase { vec![phrase] } else { vec![phrase, joined.as_str()] } {
            let words = cut_words(spelling);
            let Some(first) = words.first() else { continue };
            let list = self.phrases.entry(first.clone()).or_default();
            match list.iter_mut().find(|known| known.words == words && known.is_open == is_open) {
                Some(known) => known.kinds.add(kind),
                None => list.push(CuePhrase { words, is_open, kinds: CueKinds::of(kind) }),
            }
        }
    }

    /// Returns the number of words and the kinds of the longest phrase at the start of `words`. A few fillers may be
    /// within the phrase: "don't really want".
    pub(super) fn find<'a>(&self, words: &impl Fn(usize) -> Option<&'a str>) -> Option<(usize, CueKinds)> {
        let list = self.phrases.get(words(0)?)?;
        list.iter().find_map(|phrase| Some((self.measure(phrase, words)?, phrase.kinds)))
    }

    /// Returns the number of words that the phrase matches; `None` if it does not match.
    fn measure<'a>(&self, phrase: &CuePhrase, words: &impl Fn(usize) -> Option<&'a str>) -> Option<usize> {
        let last = phrase.words.len() - 1;
        let (mut at, mut skipped) = (0, 0);
        for (place, own) in phrase.words.iter().enumerate() {
            let mut word = words(at)?;
            while !(word == own || (phrase.is_open && place == last && word.starts_with(own))) {
                skipped += 1;
                if place == 0 || skipped > SKIPPED || !self.is_filler(word) {
                    return None;
                }
                at += 1;
                word = words(at)?;
            }
            at += 1;
        }
        Some(at)
    }

    fn is_filler(&self, word: &str) -> bool {
        let is_dense = word.chars().next().is_some_and(|c| class_of(c) == Class::Dense);
        let alone = |phrase: &CuePhrase| phrase.words.len() == 1 && phrase.kinds.has(CueKind::Filler);
        !is_dense && self.phrases.get(word).is_some_and(|list| list.iter().any(alone))
    }
}

/// Folds a word, so that its spellings are equal.
pub(super) fn fold_word(word: &str) -> String {
    let alike = |c| match c {
        'أ' | 'إ' | 'آ' => 'ا',
        'ى' => 'ي',
        'ة' => 'ه',
        _ => c,
    };
    fold(word).chars().map(alike).collect()
}

/// Splits a phrase into folded words.
pub(super) fn cut_words(phrase: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in phrase.chars() {
        let class = class_of(c);
        if class == Class::Word {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(fold_word(&std::mem::take(&mut word)));
        }
        if class == Class::Dense {
            words.push(fold_word(c.encode_utf8(&mut [0; 4])));
        }
    }
    if !word.is_empty() {
        words.push(fold_word(&word));
    }
    words
}

#[cfg(test)]
mod tests;
