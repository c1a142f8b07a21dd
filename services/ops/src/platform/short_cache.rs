//! Caches of users' entries that are trusted for a second or two without a comparison with the database.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Result, TenantId, Tools, UserId};
use knowhow_store::Principal;
use moka::sync::Cache;

/// A cache of users' entries with a fixed lifetime.
pub(crate) struct ShortCache<K, V>(Cache<(TenantId, UserId, K), V>);

impl<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static> ShortCache<K, V> {
    fn new(lifetime: Duration, entries: u64) -> Self {
        Self(Cache::builder().max_capacity(entries).time_to_live(lifetime).build())
    }

    /// Returns the caller's entry.
    pub(crate) fn find(&self, principal: &Principal, key: K) -> Result<Option<V>> {
        Ok(self.0.get(&(principal.tenant(), principal.user()?, key)))
    }

    /// Returns whether the caller has an entry.
    pub(crate) fn has(&self, principal: &Principal, key: K) -> Result<bool> {
        Ok(self.0.contains_key(&(principal.tenant(), principal.user()?, key)))
    }

    /// Adds or replaces the caller's entry.
    pub(crate) fn put(&self, principal: &Principal, key: K, value: V) -> Result<()> {
        self.0.insert((principal.tenant(), principal.user()?, key), value);
        Ok(())
    }

    /// Removes the caller's entry.
    pub(crate) fn forget(&self, principal: &Principal, key: K) -> Result<()> {
        self.0.invalidate(&(principal.tenant(), principal.user()?, key));
        Ok(())
    }
}

/// The short-lived caches of all users; shared by the process.
pub struct ShortCaches {
    /// SHA-256 (hex) of recently returned snapshots, by the tools they were rendered for. A conditional request for
    /// the same snapshot needs no query. Deleted content must disappear from the snapshots of new sessions within 5 s.
    pub(crate) snapshots: ShortCache<Tools, Arc<str>>,
    /// Users who recently reached the quota of open sessions. Checking the quota reads all of a user's sessions, so
    /// repeated requests are rejected from this cache. If a session of the user ends in this process, the entry is
    /// removed immediately.
    pub(crate) full_users: ShortCache<(), ()>,
}

impl Default for ShortCaches {
    fn default() -> Self {
        Self {
            snapshots: ShortCache::new(Duration::from_secs(2), 100_000),
            full_users: ShortCache::new(Duration::from_secs(1), 10_000),
        }
    }
}
