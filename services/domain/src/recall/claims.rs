//! Removes disclaimers (uses that a skill is *not* for) from descriptions, because a search should not match their
//! words.

use std::borrow::Cow;

/// Beginnings of disclaimers, in lower case.
const DISCLAIMERS: [&str; 14] = [
    "not for ",
    "not intended for ",
    "not suitable for ",
    "not to be used ",
    "do not use ",
    "do not trigger ",
    "do not invoke ",
    "do not activate ",
    "don't use ",
    "don’t use ",
    "don't trigger ",
    "skip for ",
    "skip when ",
    "avoid for ",
];

/// Returns the description without disclaimers. A description that has only disclaimers is returned whole.
///
/// A disclaimer starts a sentence or follows a punctuation mark, and ends with the sentence or bracket.
pub(super) fn claims_of(description: &str) -> Cow<'_, str> {
    let lower = description.to_ascii_lowercase();
    let mut kept = String::new();
    let mut at = 0;
    while let Some(start) = find_disclaimer(&lower, at) {
        kept.push_str(&description[at..start]);
        at = start + clause_length(&lower[start..], lower[..start].trim_end().ends_with('('));
    }
    if at == 0 {
        return Cow::Borrowed(description);
    }
    kept.push_str(&description[at..]);
    if kept.chars().any(char::is_alphanumeric) { Cow::Owned(kept) } else { Cow::Borrowed(description) }
}

fn find_disclaimer(lower: &str, from: usize) -> Option<usize> {
    // Text that follows a letter and a space does not begin a clause: "tests that do not use the network".
    let stands_first = |at: &usize| {
        let lead = lower[..*at].trim_end_matches(' ');
        !lead.ends_with(char::is_alphanumeric)
    };
    let first = |marker: &&str| lower[from..].match_indices(*marker).map(|(at, _)| from + at).find(stands_first);
    DISCLAIMERS.iter().filter_map(first).min()
}

/// Returns the length of a clause in bytes, including its final `.`, `!` or `?`.
fn clause_length(lower: &str, in_brackets: bool) -> usize {
    let mut rest = lower.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map_or(' ', |(_, next)| *next);
        match c {
            '\n' | '。' => return at,
            '.' | '!' | '?' if after.is_whitespace() => return at + 1,
            ')' if in_brackets => return at,
            _ => {}
        }
    }
    lower.len()
}

#[cfg(test)]
mod tests;
