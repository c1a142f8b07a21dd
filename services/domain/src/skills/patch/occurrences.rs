//! Searches a sequence of line numbers for another.

/// Returns all positions of `wanted` in `all`, including overlapping ones, in linear time (Knuth-Morris-Pratt).
pub(super) fn occurrences(all: &[usize], wanted: &[usize]) -> Vec<usize> {
    if wanted.is_empty() {
        return (0..all.len()).collect();
    }
    let mut fallback = vec![0; wanted.len()];
    let mut matched = 0;
    for at in 1..wanted.len() {
        while matched > 0 && wanted[at] != wanted[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(wanted[at] == wanted[matched]);
        fallback[at] = matched;
    }
    let mut places = Vec::new();
    matched = 0;
    for (at, id) in all.iter().enumerate() {
        while matched > 0 && *id != wanted[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(*id == wanted[matched]);
        if matched == wanted.len() {
            places.push(at + 1 - matched);
            matched = fallback[matched - 1];
        }
    }
    places
}
