//! The phrases of answers in fifteen languages, from the table `words.txt`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::recall::fold::{Class, class_of, fold};

/// Lines of a language, a kind and its phrases.
const TABLE: &str = include_str!("words.txt");

pub(super) static WORDS: LazyLock<Words> = LazyLock::new(Words::read);

/// The kind of a phrase in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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

/// The kinds by their names in the table. A phrase of several kinds is of the first.
const KINDS: [(&str, Kind); 18] = [
    ("yes", Kind::Yes),
    ("no", Kind::No),
    ("fine", Kind::Fine),
    ("first", Kind::First),
    ("second", Kind::Second),
    ("third", Kind::Third),
    ("fourth", Kind::Fourth),
    ("fifth", Kind::Fifth),
    ("last", Kind::Last),
    ("all", Kind::All),
    ("filler", Kind::Filler),
    ("pick", Kind::Pick),
    ("or", Kind::Or),
    ("also", Kind::Also),
    ("follow", Kind::Follow),
    ("follow_end", Kind::FollowEnd),
    ("open", Kind::Open),
    ("offer", Kind::Offer),
];

/// The kinds of a phrase, a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kinds(u32);

impl Kinds {
    pub(super) fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u32;
    }

    /// The first of these kinds that a phrase is of.
    pub(super) fn first_of(self, kinds: &[Kind]) -> Option<Kind> {
        kinds.iter().copied().find(|kind| self.has(*kind))
    }
}

/// Phrases by their words, joined by blanks.
#[derive(Debug, Default)]
pub(super) struct Words {
    phrases: HashMap<String, Kinds>,
    /// Words of the longest phrase.
    longest: usize,
}

impl Words {
    fn read() -> Self {
        let mut words = Self::default();
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for (head, phrases) in lines.filter_map(|line| line.split_once(": ")) {
            let name = head.split_once(' ').map_or(head, |(_, name)| name);
            let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else { continue };
            for phrase in phrases.split(", ") {
                let tokens = split(phrase);
                words.longest = words.longest.max(tokens.len());
                words.phrases.entry(join(&tokens)).or_default().add(*kind);
            }
        }
        words
    }

    /// Returns the kinds of the longest phrase that these words begin with and that is of one of `kinds`, and its words.
    pub(super) fn find(&self, tokens: &[Token], kinds: &[Kind]) -> Option<(Kind, usize)> {
        (1..=self.longest.min(tokens.len())).rev().find_map(|length| {
            let phrase = &tokens[..length];
            let known = self.phrases.get(&join(phrase))?;
            Some((known.first_of(kinds)?, length))
        })
    }

    /// Checks whether a phrase of a kind stands anywhere in these words.
    pub(super) fn contains(&self, tokens: &[Token], kind: Kind) -> bool {
        (0..tokens.len()).any(|at| self.find(&tokens[at..], &[kind]).is_some())
    }
}

/// A word of a text, or a letter of a script without blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Folded.
    pub(super) text: String,
    /// Where it stands, in bytes.
    pub(super) bytes: Range<usize>,
    /// Whether it follows the one before without a gap.
    pub(super) is_glued: bool,
}

/// Splits a text into words. An emoji that answers is a word too.
pub(super) fn split(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut before = Class::Gap;
    for (at, c) in text.char_indices() {
        let class = if is_picture(c) { Class::Dense } else { class_of(c) };
        let end = at + c.len_utf8();
        match (class, tokens.last_mut()) {
            (Class::Gap, _) => {}
            (Class::Word, Some(token)) if before == Class::Word => token.bytes.end = end,
            _ => tokens.push(Token { text: String::new(), bytes: at..end, is_glued: before != Class::Gap }),
        }
        before = class;
    }
    for token in &mut tokens {
        token.text = fold(&text[token.bytes.clone()]).into_owned();
    }
    tokens
}

/// Checks whether a character is an emoji that answers.
fn is_picture(c: char) -> bool {
    matches!(c, '👍' | '👎' | '👌' | '✅' | '❌' | '🙏')
}

fn join(tokens: &[Token]) -> String {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    texts.join(" ")
}
