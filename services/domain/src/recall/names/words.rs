//! Splits a text into words, each with its position and its separator from the next word.

use std::ops::Range;

use crate::recall::fold::{Class, class_of};
use crate::skills::name::plain_word;

/// A word in the message, and its separator from the next word.
pub(super) struct MessageWord {
    pub(super) text: String,
    pub(super) bytes: Range<usize>,
    pub(super) chars: Range<usize>,
    /// Characters before and after the word; `None` at the ends of the text.
    pub(super) before: Option<char>,
    pub(super) after: Option<char>,
    /// Whether a `/` that can start a command precedes the word.
    pub(super) is_command: bool,
    pub(super) separator: WordSeparator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordSeparator {
    None,
    Blank,
    Hyphen,
    Slash,
    /// Spaces and quotation marks.
    Quote,
    /// The `://` of an address.
    Scheme,
}

/// Returns the words in a message, spelled in ASCII letters and digits like the names of skills. Other letters are
/// transliterated. A word that mixes alphabets becomes a placeholder that no name contains.
pub(super) fn split_message(message: &str) -> Vec<MessageWord> {
    let mut words: Vec<MessageWord> = Vec::new();
    let mut open = false;
    let mut gap = String::new();
    let mut before = None;
    for (index, (byte, c)) in message.char_indices().enumerate() {
        let plain = narrow(c);
        if class_of(c) != Class::Word {
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
                word.separator = joint_of(&gap);
            }
            let (bytes, chars) = (byte..byte, index..index);
            let lead = gap.strip_suffix('/').map(|lead| lead.chars().next_back());
            let is_command = lead.is_some_and(|lead| match lead {
                Some(c) => c.is_whitespace() || matches!(c, '(' | '"' | '\'' | '`'),
                None => words.is_empty(),
            });
            let text = String::new();
            words.push(MessageWord {
                text,
                bytes,
                chars,
                before,
                after: None,
                is_command,
                separator: WordSeparator::None,
            });
            gap.clear();
            open = true;
        }
        if let Some(word) = words.last_mut() {
            word.bytes.end = byte + c.len_utf8();
            word.chars.end = index + 1;
            word.text.push(plain.to_ascii_lowercase());
        }
    }
    for word in words.iter_mut().filter(|word| !word.text.is_ascii()) {
        // The placeholder prevents a match: names have only ASCII letters and digits.
        word.text = plain_word(&word.text).filter(|plain| !plain.is_empty()).unwrap_or_else(|| "\0".to_owned());
    }
    words
}

const QUOTES: [char; 9] = ['"', '\'', '`', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{ab}', '\u{bb}'];

/// Returns the ASCII form of a full-width character; other characters are returned unchanged.
fn narrow(c: char) -> char {
    match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        0x3000 => ' ',
        _ => c,
    }
}

fn joint_of(gap: &str) -> WordSeparator {
    match gap {
        "-" | "_" => WordSeparator::Hyphen,
        "/" => WordSeparator::Slash,
        "://" => WordSeparator::Scheme,
        _ if gap.chars().all(char::is_whitespace) => WordSeparator::Blank,
        _ if gap.chars().all(|c| c.is_whitespace() || QUOTES.contains(&c)) => WordSeparator::Quote,
        _ => WordSeparator::None,
    }
}
