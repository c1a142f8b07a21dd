//! Bounds the series of requests. Templates of paths are a closed set, but with methods and statuses there are thousands of
//! combinations, each with a series for every bucket.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock};

/// Combinations of method, route and status that have series of their own. Those that come first do: what is called often
/// comes soon. With ten series each they leave room for all other metrics below 2,000.
const MOST: usize = 96;

/// The combinations that came so far.
#[derive(Default)]
pub(super) struct Routes {
    known: RwLock<HashSet<u64>>,
    hasher: RandomState,
}

impl Routes {
    /// Whether the combination has series of its own.
    pub(super) fn admit(&self, method: &str, route: &str, status: u16) -> bool {
        let combination = self.hasher.hash_one((method, route, status));
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&combination) {
            return true;
        }
        let is_full = known.len() >= MOST;
        drop(known);
        if is_full {
            return false;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have taken the last place.
        known.contains(&combination) || (known.len() < MOST && known.insert(combination))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_combinations_have_series_and_keep_them() {
        let routes = Routes::default();
        let admitted = (0..1000).filter(|status| routes.admit("GET", "/v1/skills", *status)).count();
        assert_eq!(admitted, MOST);
        assert!(routes.admit("GET", "/v1/skills", 0) && !routes.admit("GET", "/v1/skills", 999));
    }
}
