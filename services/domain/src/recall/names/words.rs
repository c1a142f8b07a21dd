//! Cuts a text into words, with where each stands and what joins it to the next one.

use std::ops::Range;

use crate::recall::fold::{Class, class_of};

/// A word of the message and what joins it to the next one.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) bytes: Range<usize>,
    pub(super) chars: Range<usize>,
    /// The character before and after, where there is one.
    pub(super) before: Option<char>,
    pub(super) after: Option<char>,
    /// Whether a `/` stands before it where a command may begin.
    pub(super) is_command: bool,
    pub(super) joint: Joint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    None,
    Blank,
    Hyphen,
    Slash,
    /// Blanks and quotation marks.
    Quote,
}

/// The words of a message in the letters of names; a word with other letters is kept as an empty one.
pub(super) fn split_message(message: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut open = false;
    let mut gap = String::new();
    let mut before = None;
    for (index, (byte, c)) in message.char_indices().enumerate() {
        let plain = narrow(c);
        if !(c == '_' || class_of(c) == Class::Word) {
            if open && let Some(word) = words.last_mut() {
                word.after = Some(plain);
            }
            open = false;
            gap.push(plain);
            before = Some(plain);
            continue;
        }
        if !open {
            if let Some(word) = words.last_mut() {
                word.joint = joint_of(&gap);
            }
            let (bytes, chars) = (byte..byte, index..index);
            let lead = gap.strip_suffix('/').map(|lead| lead.chars().next_back());
            let is_command = lead.is_some_and(|lead| match lead {
                Some(c) => c.is_whitespace() || matches!(c, '(' | '"' | '\'' | '`'),
                None => words.is_empty(),
            });
            let text = String::new();
            words.push(Word { text, bytes, chars, before, after: None, is_command, joint: Joint::None });
            gap.clear();
            open = true;
        }
        if let Some(word) = words.last_mut() {
            word.bytes.end = byte + c.len_utf8();
            word.chars.end = index + 1;
            // A letter that no name can have makes the word unlike any name.
            word.text.push(if plain.is_ascii_alphanumeric() { plain.to_ascii_lowercase() } else { '\0' });
        }
    }
    words
}

const QUOTES: [char; 9] = ['"', '\'', '`', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{ab}', '\u{bb}'];

/// The ASCII form of a full-width character.
fn narrow(c: char) -> char {
    match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        0x3000 => ' ',
        _ => c,
    }
}

fn joint_of(gap: &str) -> Joint {
    match gap {
        "-" => Joint::Hyphen,
        "/" => Joint::Slash,
        _ if gap.chars().all(char::is_whitespace) => Joint::Blank,
        _ if gap.chars().all(|c| c.is_whitespace() || QUOTES.contains(&c)) => Joint::Quote,
        _ => Joint::None,
    }
}
