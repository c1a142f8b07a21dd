//! Replaces look-alikes of ASCII letters in words that mix scripts.

use std::ops::Range;

use unicode_security::confusable_detection::skeleton as prototype;

use super::report::View;
use super::text::{Text, ViewBuilder, beyond_ascii};

/// A view with ASCII words instead of words that mix scripts.
pub(super) struct Skeleton {
    pub(super) view: Text<'static>,
    /// Ranges of the words in the original view.
    pub(super) words: Vec<Range<usize>>,
}

/// Replaces look-alikes of ASCII letters in words that also contain ASCII letters. Returns `None` if there are no such
/// words.
pub(super) fn skeleton(seen: &Text<'_>) -> Option<Skeleton> {
    let mut built = ViewBuilder::default();
    let mut words = Vec::new();
    let text = seen.text.as_ref();
    let (mut after, mut read) = (0, 0);
    // Words with only ASCII letters are copied unchanged.
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
    // Words with up to three letters may be formulas, such as `σx2`.
    ascii > 0
        && word.chars().filter(|c| c.is_alphabetic()).count() >= 4
        && word.chars().any(|c| !c.is_ascii() && c.is_alphabetic())
}

/// Returns the word in ASCII if all its letters look like ASCII letters.
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
