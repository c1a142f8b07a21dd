//! Words that mix letters of several scripts, and what they look like.

use std::ops::Range;

use unicode_security::confusable_detection::skeleton as prototype;

use super::report::View;
use super::text::{Builder, Text, beyond_ascii};

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
    let (mut after, mut read) = (0, 0);
    // Words of ASCII alone are taken over as they are.
    for (at, _) in beyond_ascii(text).filter(|(_, c)| c.is_alphanumeric()) {
        if at < read {
            continue;
        }
        let word = word_around(text, at);
        read = word.end;
        if is_mixed(&text[word.clone()])
            && let Some(plain) = unmixed(&text[word.clone()])
        {
            built.push(&text[after..word.start], after);
            built.push(&plain, word.start);
            after = word.end;
            words.push(word);
        }
    }
    built.push(&text[after..], after);
    (!words.is_empty()).then(|| Skeleton { view: built.into_view(View::Skeleton, seen), words })
}

fn word_around(text: &str, at: usize) -> Range<usize> {
    let is_no_letter = |c: char| !c.is_alphanumeric();
    let start = text[..at].rfind(is_no_letter).map_or(0, |gap| text.ceil_char_boundary(gap + 1));
    start..text[at..].find(is_no_letter).map_or(text.len(), |gap| at + gap)
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
        plain.push_str(&letter);
    }
    Some(plain)
}
