//! Byte-for-byte search.

use std::ops::Range;

use super::MATCHES;

/// Returns the byte ranges of `old` in the text. If `all` is set, returns all ranges from left to right without
/// overlap; otherwise the first `MATCHES` ranges, including overlapping ones.
pub(super) fn find(text: &str, old: &str, all: bool) -> Vec<Range<usize>> {
    if all {
        return text.match_indices(old).map(|(at, _)| at..at + old.len()).collect();
    }
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(old).map(|at| at + from) {
        places.push(at..at + old.len());
        if places.len() == MATCHES {
            break;
        }
        from = at + step;
    }
    places
}
