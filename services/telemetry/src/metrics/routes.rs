//! Bounds the series of requests. Templates of paths are a closed set, but with methods and statuses there are thousands of
//! combinations, each with a series for every bucket.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock};

/// Combinations of method, route and status that have series of their own. Those that come first do: what is called often
/// comes soon. With ten series each they leave room for all other metrics below 2,000.
const MOST: usize = 96;

/// Places among them that are kept for the requests that objectives are about, however much else comes first.
const KEPT: usize = 32;

/// Those requests. `deploy/observability/rules/objectives.yaml` asks for their series.
const PROMISED: [(&str, &str); 5] = [
    ("POST", "/v1/sessions/{session}/turns"),
    ("GET", "/v1/snapshot"),
    ("POST", "/v1/sessions"),
    ("POST", "/v1/skills"),
    ("PATCH", "/v1/skills/{skill}"),
];

/// The combinations that came so far.
#[derive(Default)]
pub(super) struct Routes {
    known: RwLock<Known>,
    hasher: RandomState,
}

#[derive(Default)]
struct Known {
    combinations: HashSet<u64>,
    /// How many of them no objective is about.
    others: usize,
}

impl Known {
    fn has_room(&self, is_promised: bool) -> bool {
        self.combinations.len() < MOST && (is_promised || self.others < MOST - KEPT)
    }
}

impl Routes {
    /// Whether the combination has series of its own.
    pub(super) fn admit(&self, method: &str, route: &str, status: u16) -> bool {
        let combination = self.hasher.hash_one((method, route, status));
        let is_promised = PROMISED.contains(&(method, route));
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.combinations.contains(&combination) {
            return true;
        }
        let has_room = known.has_room(is_promised);
        drop(known);
        if !has_room {
            return false;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added it, or taken the last place.
        if known.combinations.contains(&combination) || !known.has_room(is_promised) {
            return known.combinations.contains(&combination);
        }
        known.others += usize::from(!is_promised);
        known.combinations.insert(combination)
    }
}

#[cfg(test)]
mod tests;
