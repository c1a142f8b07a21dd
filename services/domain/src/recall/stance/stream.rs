//! Splits the text around the names of a message into names, cues, other words and punctuation.

use std::ops::Range;

use super::table::{CueKind, CueKinds, Table, fold_word};
use crate::learning::pause::pause_at;
use crate::recall::fold::{Class, class_of};

/// A part of the text: a name, a word or phrase, or a punctuation mark.
#[derive(Debug, Clone)]
pub(super) struct StanceToken {
    pub(super) item: Item,
    /// Byte range in the message.
    pub(super) bytes: Range<usize>,
    /// Width of the token, which is the distance that it puts between its neighbours. A word counts like three
    /// letters of a script without spaces.
    pub(super) width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A name, by its index among the names in the message.
    Name(usize),
    /// A word, or a phrase from the table with its kinds.
    Word(CueKinds),
    Comma,
    /// The end of a sentence, or a bracket.
    Stop,
    Quote(char),
}

impl StanceToken {
    pub(super) fn has(&self, kind: CueKind) -> bool {
        matches!(self.item, Item::Word(kinds) if kinds.has(kind))
    }

    pub(super) fn has_any(&self, wanted: &[CueKind]) -> bool {
        matches!(self.item, Item::Word(kinds) if kinds.has_any(wanted))
    }
}

/// The width of a word with spaces around it.
pub(super) const WORD: usize = 3;

/// A name, word or punctuation mark, before phrases are matched.
struct Raw {
    item: Item,
    /// The folded word; empty for other tokens.
    text: String,
    bytes: Range<usize>,
    is_dense: bool,
}

/// Reads a span of the message. `names` has the numbers and byte ranges of the names in the span, in order.
pub(super) fn read_span(message: &str, span: Range<usize>, names: &[(usize, Range<usize>)]) -> Vec<StanceToken> {
    let mut raw = Vec::new();
    let mut at = span.start;
    for (number, place) in names {
        read_words(message, at..place.start, true, &mut raw);
        raw.push(Raw { item: Item::Name(*number), text: String::new(), bytes: place.clone(), is_dense: false });
        at = place.end;
    }
    read_words(message, at..span.end, false, &mut raw);
    find_phrases(&raw)
}

fn read_words(message: &str, range: Range<usize>, before_name: bool, raw: &mut Vec<Raw>) {
    let Some(text) = message.get(range.clone()) else { return };
    let mut word: Option<usize> = None;
    let push_word = |raw: &mut Vec<Raw>, from: usize, to: usize, is_dense: bool| {
        let item = Item::Word(CueKinds::default());
        raw.push(Raw { item, text: fold_word(&text[from..to]), bytes: range.start + from..range.start + to, is_dense });
    };
    for (at, c) in text.char_indices() {
        // Invisible joiners are parts of words.
        if matches!(c, '\u{200c}' | '\u{200d}') {
            continue;
        }
        let class = class_of(c);
        if class == Class::Word || c == '_' {
            word.get_or_insert(at);
            continue;
        }
        if let Some(from) = word.take() {
            push_word(raw, from, at, false);
        }
        let end = at + c.len_utf8();
        if class == Class::Dense {
            push_word(raw, at, end, true);
        } else if let Some(item) = mark_of(c, &text[..at], &text[end..], before_name) {
            raw.push(Raw { item, text: String::new(), bytes: range.start + at..range.start + end, is_dense: false });
        }
    }
    if let Some(from) = word {
        push_word(raw, from, text.len(), false);
    }
}

const QUOTES: [char; 12] =
    ['"', '\'', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{201e}', '«', '»', '「', '」', '『'];

fn mark_of(c: char, before: &str, after: &str, before_name: bool) -> Option<Item> {
    let is_apart = |text: Option<char>| text.is_none_or(|c| !c.is_alphanumeric());
    match c {
        ',' | '，' | '、' | '،' => Some(Item::Comma),
        '!' | '?' | ';' | '\n' | '。' | '！' | '？' | '；' | '؟' | '؛' | '।' | '…' | '(' | ')' | '[' | ']' | '—'
        | '–' | '¿' | '¡' | '（' | '）' => Some(Item::Stop),
        '.' => is_apart(after.chars().next()).then_some(Item::Stop),
        '-' => (before.ends_with(' ') && after.starts_with(' ')).then_some(Item::Stop),
        // "do not run: x" is one clause.
        ':' | '：' => {
            let introduces = before_name && after.chars().all(|c| c.is_whitespace() || c == '`' || QUOTES.contains(&c));
            (!introduces).then_some(Item::Stop)
        }
        '\'' | '\u{2019}' if !(is_apart(before.chars().next_back()) || is_apart(after.chars().next())) => None,
        _ => QUOTES.contains(&c).then_some(Item::Quote(c)),
    }
}

/// Maximum number of words in a phrase.
const LONGEST: usize = 10;

fn find_phrases(raw: &[Raw]) -> Vec<StanceToken> {
    let table = Table::get();
    let is_join = |at: usize| {
        let next = raw.get(at).filter(|raw| matches!(raw.item, Item::Word(_))).map(|raw| raw.text.as_str());
        table.find(&|place| next.filter(|_| place == 0)).is_some_and(|(_, kinds)| kinds.has(CueKind::Join))
    };
    let kept: Vec<&Raw> = raw
        .iter()
        .enumerate()
        .filter(|(at, raw)| raw.item != Item::Comma || !is_join(at + 1))
        .map(|(_, raw)| raw)
        .collect();
    let mut tokens = Vec::with_capacity(kept.len());
    let mut at = 0;
    while let Some(first) = kept.get(at) {
        pause_at(at);
        let length = kept[at..].iter().take_while(|raw| matches!(raw.item, Item::Word(_))).take(LONGEST).count();
        let word = |place: usize| kept.get(at + place).filter(|_| place < length).map(|raw| raw.text.as_str());
        let found = table.find(&word);
        let (count, kinds) = found.unwrap_or((1, CueKinds::default()));
        let phrase = &kept[at..at + count];
        let is_word = matches!(first.item, Item::Word(_));
        let item = if is_word { Item::Word(kinds) } else { first.item };
        let width = match item {
            Item::Word(kinds) if kinds.has(CueKind::Filler) => 0,
            Item::Word(_) => phrase.iter().map(|raw| if raw.is_dense { 1 } else { WORD }).sum(),
            _ => 0,
        };
        let end = phrase.last().map_or(first.bytes.end, |last| last.bytes.end);
        tokens.push(StanceToken { item, bytes: first.bytes.start..end, width });
        at += count;
    }
    tokens
}
