//! Normalizes letters for comparison: removes compatibility forms, case and diacritics.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Role of a character in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Gap,
    /// A letter or digit of a script that separates words with spaces.
    Word,
    /// A letter of a script that writes words without spaces, or that attaches particles to words (Hangul).
    Dense,
}

/// Returns the class of a character. Combining marks belong to their word.
pub(crate) fn class_of(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Word } else { Class::Gap };
    }
    match u32::from(c) {
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF if c.is_alphabetic() || is_combining_mark(c) => {
            Class::Dense
        }
        0x1100..=0x11FF | 0x3005..=0x3007 | 0x3041..=0x30FF | 0x3105..=0x318E | 0x31F0..=0x31FF | 0xAC00..=0xD7A3 => {
            if c == '\u{30fb}' {
                Class::Gap
            } else {
                Class::Dense
            }
        }
        0x2E80..=0x2FDF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x3FFFF => {
            Class::Dense
        }
        _ if c.is_alphanumeric() || is_combining_mark(c) => Class::Word,
        _ => Class::Gap,
    }
}

/// Returns the text in NFKC and lower case, without diacritics (Latin, Greek) and vowel points (Hebrew, Arabic).
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        fold_char(c, &mut folded);
    }
    Cow::Owned(folded)
}

fn fold_char(c: char, folded: &mut String) {
    match c {
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'ø' => folded.push('o'),
        'ł' => folded.push('l'),
        'đ' | 'ð' => folded.push('d'),
        'ı' => folded.push('i'),
        'þ' => folded.push_str("th"),
        'ς' => folded.push('σ'),
        'ё' => folded.push('е'),
        // Only Latin and Greek letters are decomposed. Without its breve, й would become another letter, and Russian
        // stemming needs it.
        '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}' => decompose_canonical(c, |part| {
            if !is_combining_mark(part) {
                folded.push(part);
            }
        }),
        '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' => {}
        _ => folded.push(c),
    }
}
