//! Skills that are used in the same sessions.

use std::collections::{BTreeMap, BTreeSet};

/// So many pairs are named.
const MOST_PAIRS: usize = 10;

/// A skill was used in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use<'a> {
    /// Which session, by any number that is its own.
    pub session: usize,
    /// The skill's name.
    pub skill: &'a str,
}

/// Two skills that were used in the same sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoUsed<'a> {
    /// The name that sorts first.
    pub first: &'a str,
    pub second: &'a str,
    /// In how many sessions both were used.
    pub sessions: usize,
}

/// The ten pairs of skills with the most sessions in common, most first, then by name.
///
/// A skill counts once a session, however often it was used there. The time grows with the square of the skills of a
/// session.
pub fn find_co_used<'a>(uses: &[Use<'a>]) -> Vec<CoUsed<'a>> {
    let mut sessions: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for Use { session, skill } in uses {
        sessions.entry(*session).or_default().insert(skill);
    }
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for skills in sessions.values() {
        for (at, first) in skills.iter().enumerate() {
            for second in skills.iter().skip(at + 1) {
                *counts.entry((first, second)).or_default() += 1;
            }
        }
    }
    let mut pairs: Vec<CoUsed<'a>> =
        counts.into_iter().map(|((first, second), sessions)| CoUsed { first, second, sessions }).collect();
    // The sort keeps the order of names among equals.
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.sessions));
    pairs.truncate(MOST_PAIRS);
    pairs
}

#[cfg(test)]
mod tests;
