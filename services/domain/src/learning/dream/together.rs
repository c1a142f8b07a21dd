//! Skills that are used in the same sessions.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of pairs returned.
const MOST_PAIRS: usize = 10;

/// An event: a skill was used in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use<'a> {
    /// Any number that identifies the session.
    pub session: usize,
    /// Name of the skill.
    pub skill: &'a str,
}

/// Two skills that were used in the same sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoUsed<'a> {
    /// Name of the skill that sorts first.
    pub first: &'a str,
    pub second: &'a str,
    /// Number of sessions that used both skills.
    pub sessions: usize,
}

/// Returns at most ten pairs of skills. The pairs with the most common sessions come first; equal pairs are sorted by
/// name.
///
/// A skill counts once in a session. The time is quadratic in the number of skills in a session.
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
    // The sort is stable, so equal pairs stay sorted by name.
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.sessions));
    pairs.truncate(MOST_PAIRS);
    pairs
}

#[cfg(test)]
mod tests;
