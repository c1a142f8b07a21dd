//! Words that mix letters of several scripts, and what they look like.

use std::ops::Range;

use unicode_security::confusable_detection::skeleton as prototype;

use super::report::View;
use super::text::{Builder, Text};

/// A view with such words replaced.
pub(super) struct Skeleton {
    pub(super) view: Text<'static>,
    /// Where the words stand in the view that it was made of.
    pub(super) words: Vec<Range<usize>>,
}

/// The view with each letter that looks like one of ASCII replaced by that, in words that mix both.
pub(super) fn skeleton(seen: &Text<'_>) -> Option<Skeleton> {
    let mut built = Builder::default();
    let mut words = Vec::new();
    let text = seen.text.as_ref();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        if length == 0 {
            let gap = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
            built.push(&rest[..gap], at);
            at += gap;
            continue;
        }
        let word = &rest[..length];
        match is_mixed(word).then(|| unmixed(word)).flatten() {
            Some(plain) => {
                words.push(at..at + length);
                built.push(&plain, at);
            }
            None => built.push(word, at),
        }
        at += length;
    }
    (!words.is_empty()).then(|| Skeleton { view: built.into_view(View::Skeleton, seen), words })
}

fn is_mixed(word: &str) -> bool {
    let ascii = word.chars().filter(char::is_ascii_alphabetic).count();
    ascii > 0 && word.chars().count() >= 3 && word.chars().any(|c| !c.is_ascii() && c.is_alphabetic())
}

/// The word in ASCII, where all its letters look like ASCII ones.
fn unmixed(word: &str) -> Option<String> {
    let mut plain = String::with_capacity(word.len());
    let mut letter = String::new();
    for c in word.chars() {
        if c.is_ascii() {
            plain.push(c);
            continue;
        }
        letter.clear();
        letter.extend(prototype(c.encode_utf8(&mut [0; 4])));
        if letter.is_empty() || !letter.is_ascii() {
            return None;
        }
        plain.push_str(&letter.to_ascii_lowercase());
    }
    Some(plain)
}
