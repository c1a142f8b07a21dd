//! Limits the time series of requests. Path templates are a fixed set, but with methods and statuses there are
//! thousands of combinations, and each has a series for every bucket.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock};

/// Maximum number of combinations of method, route and status with their own series; the first combinations get them.
/// Each has about ten series, so all metrics together stay below 2,000.
const MOST: usize = 96;

/// Number of combinations that are reserved for the routes with objectives.
const KEPT: usize = 32;

/// Routes with objectives. `deploy/observability/rules/objectives.yaml` queries their series.
const PROMISED: [(&str, &str); 5] = [
    ("POST", "/v1/sessions/{session}/turns"),
    ("GET", "/v1/snapshot"),
    ("POST", "/v1/sessions"),
    ("POST", "/v1/skills"),
    ("PATCH", "/v1/skills/{skill}"),
];

/// The combinations that have their own series.
#[derive(Default)]
pub(super) struct Routes {
    known: RwLock<Known>,
    hasher: RandomState,
}

#[derive(Default)]
struct Known {
    combinations: HashSet<u64>,
    /// Number of combinations with their own series on routes without an objective.
    others: usize,
}

impl Known {
    fn has_room(&self, is_promised: bool) -> bool {
        self.combinations.len() < MOST && (is_promised || self.others < MOST - KEPT)
    }
}

impl Routes {
    /// Returns whether the combination has, or can still get, its own series.
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
        // Another thread may have added the combination in the meantime, or reached the limit.
        if known.combinations.contains(&combination) || !known.has_room(is_promised) {
            return known.combinations.contains(&combination);
        }
        known.others += usize::from(!is_promised);
        known.combinations.insert(combination)
    }
}

#[cfg(test)]
mod tests;
