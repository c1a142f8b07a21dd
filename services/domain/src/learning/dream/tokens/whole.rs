//! Checks whether a text contains words and tokens as a whole, not as pieces of longer words, numbers, paths or
//! addresses.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::graph::is_border;

/// Returns the `tokens` that a text does not contain as a whole, in order.
pub(in crate::learning::dream) fn missing_of(tokens: &BTreeSet<String>, text: &str) -> Vec<String> {
    let text = collapsed(text);
    let tokens: Vec<&String> = tokens.iter().collect();
    let mut is_kept = vec![false; tokens.len()];
    // Building fails only if there are too many patterns. All tokens then count as missing.
    if let Ok(search) = AhoCorasick::new(&tokens) {
        for found in search.find_overlapping_iter(&text) {
            let kept = &mut is_kept[found.pattern()];
            *kept = *kept || is_whole(&text, &found.range());
        }
    }
    tokens.into_iter().zip(is_kept).filter(|(_, is_kept)| !is_kept).map(|(token, _)| token.clone()).collect()
}

/// Returns whether a text contains a word or phrase as a whole, not as a piece of a longer one.
pub(in crate::learning::dream) fn has_whole(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| is_whole(text, &(at..at + phrase.len())))
}

/// Replaces runs of blanks and line breaks by a blank, and trims the text.
pub(super) fn collapsed(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut line = String::with_capacity(text.len());
    line.extend(words.next());
    for word in words {
        line.push(' ');
        line.push_str(word);
    }
    line
}

/// Returns whether a range is not a piece of a longer word, number, path or address.
pub(super) fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let (inside, before, after) = (&text[range.clone()], &text[..range.start], &text[range.end..]);
    let mut back = before.chars().rev();
    let (last, second_last) = (back.next(), back.next());
    let mut ahead = after.chars();
    let (next, second_next) = (ahead.next(), ahead.next());
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let first_inside = inside.chars().next().filter(|c| c.is_alphanumeric());
    let last_inside = inside.chars().next_back().filter(|c| c.is_alphanumeric());
    let begins = match last {
        Some('_') => false,
        Some('-' | '/' | '.' | '@') => !is_word(second_last),
        Some(',' | ':') => !(is_digit(second_last) && is_digit(first_inside)),
        // A token that begins with punctuation, such as a path, must not follow a letter.
        _ if first_inside.is_none() => !is_word(last),
        _ => is_border(last, first_inside),
    };
    let ends = match next {
        Some('_') => false,
        Some('-' | '/' | '.' | '@' | ':') => !is_word(second_next),
        Some(',') => !(is_digit(second_next) && is_digit(last_inside)),
        _ if last_inside.is_none() => true,
        _ => is_border(last_inside, next),
    };
    begins && ends
}
