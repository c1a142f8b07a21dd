//! The phrases of answers in fifteen languages, from the table `words.txt`.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::recall::fold::{Class, class_of, fold};

/// The table of phrases. Each line has a language, a kind and phrases.
const TABLE: &str = include_str!("words.txt");

pub(super) static WORDS: LazyLock<Words> = LazyLock::new(Words::read);

/// The kind of a phrase in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerPhraseKind {
    Yes,
    Fine,
    No,
    Filler,
    First,
    Second,
    Third,
    Fourth,
    Fifth,
    Last,
    All,
    Pick,
    Or,
    Also,
    Follow,
    FollowEnd,
    Open,
    Offer,
}

/// The kinds, each with its name in the table.
const KINDS: [(&str, AnswerPhraseKind); 18] = [
    ("yes", AnswerPhraseKind::Yes),
    ("no", AnswerPhraseKind::No),
    ("fine", AnswerPhraseKind::Fine),
    ("first", AnswerPhraseKind::First),
    ("second", AnswerPhraseKind::Second),
    ("third", AnswerPhraseKind::Third),
    ("fourth", AnswerPhraseKind::Fourth),
    ("fifth", AnswerPhraseKind::Fifth),
    ("last", AnswerPhraseKind::Last),
    ("all", AnswerPhraseKind::All),
    ("filler", AnswerPhraseKind::Filler),
    ("pick", AnswerPhraseKind::Pick),
    ("or", AnswerPhraseKind::Or),
    ("also", AnswerPhraseKind::Also),
    ("follow", AnswerPhraseKind::Follow),
    ("follow_end", AnswerPhraseKind::FollowEnd),
    ("open", AnswerPhraseKind::Open),
    ("offer", AnswerPhraseKind::Offer),
];

/// A set of kinds, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct AnswerPhraseKinds(u32);

impl AnswerPhraseKinds {
    pub(super) fn has(self, kind: AnswerPhraseKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    fn add(&mut self, kind: AnswerPhraseKind) {
        self.0 |= 1 << kind as u32;
    }

    /// Returns the first kind of `kinds` that is in the set.
    pub(super) fn first_of(self, kinds: &[AnswerPhraseKind]) -> Option<AnswerPhraseKind> {
        kinds.iter().copied().find(|kind| self.has(*kind))
    }
}

/// The phrases, indexed by their first word.
#[derive(Debug, Default)]
pub(super) struct Words {
    phrases: HashMap<String, Vec<AnswerPhrase>>,
}

/// The words of a phrase after the first, and its kinds.
#[derive(Debug)]
struct AnswerPhrase {
    rest: Vec<String>,
    kinds: AnswerPhraseKinds,
}

impl Words {
    fn read() -> Self {
        let mut words = Self::default();
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for (head, phrases) in lines.filter_map(|line| line.split_once(": ")) {
            let name = head.split_once(' ').map_or(head, |(_, name)| name);
            let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else { continue };
            for phrase in phrases.split(", ") {
                words.add(phrase, *kind);
            }
        }
        // Longer phrases come first, because the longest match wins.
        words.phrases.values_mut().for_each(|list| list.sort_by_key(|phrase| Reverse(phrase.rest.len())));
        words
    }

    fn add(&mut self, phrase: &str, kind: AnswerPhraseKind) {
        let mut tokens = split(phrase).into_iter().map(|token| token.text);
        let Some(first) = tokens.next() else { return };
        let rest: Vec<String> = tokens.collect();
        let list = self.phrases.entry(first).or_default();
        match list.iter_mut().find(|known| known.rest == rest) {
            Some(known) => known.kinds.add(kind),
            None => {
                let mut kinds = AnswerPhraseKinds::default();
                kinds.add(kind);
                list.push(AnswerPhrase { rest, kinds });
            }
        }
    }

    /// Returns the kind of the longest phrase that begins `tokens` and has one of `kinds`, and its length in tokens.
    pub(super) fn find(&self, tokens: &[AnswerToken], kinds: &[AnswerPhraseKind]) -> Option<(AnswerPhraseKind, usize)> {
        let (first, behind) = tokens.split_first()?;
        self.phrases.get(&first.text)?.iter().find_map(|phrase| {
            let begins = behind.len() >= phrase.rest.len()
                && phrase.rest.iter().zip(behind).all(|(own, token)| *own == token.text);
            Some((phrase.kinds.first_of(kinds).filter(|_| begins)?, phrase.rest.len() + 1))
        })
    }

    /// Returns whether these words contain a phrase of a kind.
    pub(super) fn contains(&self, tokens: &[AnswerToken], kind: AnswerPhraseKind) -> bool {
        (0..tokens.len()).any(|at| self.find(&tokens[at..], &[kind]).is_some())
    }
}

/// A word in a text, or a letter of a script without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerToken {
    /// The folded text.
    pub(super) text: String,
    /// Byte range of the token in the text.
    pub(super) bytes: Range<usize>,
    /// Whether the token directly follows the previous one, without a gap.
    pub(super) is_glued: bool,
}

/// Splits a text into words. An emoji with the meaning of an answer is a word too.
pub(super) fn split(text: &str) -> Vec<AnswerToken> {
    let mut tokens: Vec<AnswerToken> = Vec::new();
    let mut before = Class::Gap;
    for (at, c) in text.char_indices() {
        let class = if is_picture(c) { Class::Dense } else { class_of(c) };
        let end = at + c.len_utf8();
        match (class, tokens.last_mut()) {
            (Class::Gap, _) => {}
            (Class::Word, Some(token)) if before == Class::Word => token.bytes.end = end,
            _ => tokens.push(AnswerToken { text: String::new(), bytes: at..end, is_glued: before != Class::Gap }),
        }
        before = class;
    }
    for token in &mut tokens {
        token.text = fold(&text[token.bytes.clone()]).into_owned();
    }
    tokens
}

/// Returns whether a character is an emoji with the meaning of an answer.
fn is_picture(c: char) -> bool {
    matches!(c, '👍' | '👎' | '👌' | '✅' | '❌' | '🙏')
}
