//! Compares two texts word by word.

use super::steps;

/// A passage that is the same in both texts, or a passage of the old text with its replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordPassage<'a> {
    pub old: &'a str,
    pub new: &'a str,
    pub is_equal: bool,
}

/// Returns the passages of two texts, in order. Line breaks, and the blanks between words, count as words. Long texts
/// with many changes count as changed as a whole.
pub fn compare_words<'a>(old: &'a str, new: &'a str) -> Vec<WordPassage<'a>> {
    let (old_words, new_words) = (words_of(old), words_of(new));
    let (mut old, mut new) = (old, new);
    let passage = |step: super::DiffStep| {
        let passage = WordPassage {
            old: split_off(&mut old, &old_words[step.change.old]),
            new: split_off(&mut new, &new_words[step.change.new]),
            is_equal: step.is_equal,
        };
        (!passage.old.is_empty() || !passage.new.is_empty()).then_some(passage)
    };
    steps(&old_words, &new_words).into_iter().filter_map(passage).collect()
}

/// Splits these first words from a text.
fn split_off<'a>(text: &mut &'a str, words: &[&str]) -> &'a str {
    let length = words.iter().map(|word| word.len()).sum();
    let (first, rest) = text.split_at(length);
    *text = rest;
    first
}

/// Kind of a character in a text that is split into words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Blank,
    LineBreak,
}

fn kind_of(c: char) -> Kind {
    match c {
        '\n' => Kind::LineBreak,
        _ if c.is_whitespace() => Kind::Blank,
        _ => Kind::Letter,
    }
}

/// Splits a text into words, runs of blanks, and line breaks.
fn words_of(text: &str) -> Vec<&str> {
    let (mut words, mut start) = (Vec::new(), 0);
    let mut kinds = text.char_indices().map(|(at, c)| (at, kind_of(c))).peekable();
    while let Some((_, kind)) = kinds.next() {
        let next = kinds.peek().copied();
        let end = next.map_or(text.len(), |(end, _)| end);
        if kind == Kind::LineBreak || next.is_none_or(|(_, next)| next != kind) {
            words.push(&text[start..end]);
            start = end;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{compare_words, words_of};

    #[test]
    fn words_blanks_and_line_breaks_are_split() {
        assert_eq!(words_of("a  bü.\n\n c"), ["a", "  ", "bü.", "\n", "\n", " ", "c"]);
        assert!(words_of("").is_empty());
    }

    #[test]
    fn passages_are_equal_or_replaced() {
        let found: Vec<_> = compare_words("send the old letter", "send the new letter now")
            .iter()
            .map(|passage| (passage.old, passage.new, passage.is_equal))
            .collect();
        let expected = [
            ("send the ", "send the ", true),
            ("old", "new", false),
            (" letter", " letter", true),
            ("", " now", false),
        ];
        assert_eq!(found, expected);
        assert!(compare_words("", "").is_empty());
    }

    #[test]
    fn passages_together_are_both_texts() {
        let (old, new) = ("one two\nthree  four\n".repeat(40), "two one\nthree four\n\n".repeat(30));
        let passages = compare_words(&old, &new);
        assert_eq!(passages.iter().map(|passage| passage.old).collect::<String>(), old);
        assert_eq!(passages.iter().map(|passage| passage.new).collect::<String>(), new);
        assert!(passages.iter().all(|passage| !passage.is_equal || passage.old == passage.new));
    }
}
