//! Limits how much work of each owner runs concurrently.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use tokio::sync::Semaphore;

/// Semaphores by owner, e.g. tenant or user.
pub struct KeyedSemaphores<K> {
    of_owners: Cache<K, Arc<Semaphore>>,
    each: usize,
}

/// Maximum number of cached owners.
const OWNERS: u64 = 100_000;
/// Time after its last use until a semaphore is dropped. It is longer than any wait for a permit.
const IDLE_TIME: Duration = Duration::from_secs(60);

impl<K: Hash + Eq + Send + Sync + 'static> KeyedSemaphores<K> {
    /// Creates semaphores with `each` permits per owner.
    pub fn new(each: usize) -> Self {
        Self { of_owners: Cache::builder().max_capacity(OWNERS).time_to_idle(IDLE_TIME).build(), each }
    }

    /// Returns the owner's semaphore.
    pub fn of(&self, owner: K) -> Arc<Semaphore> {
        self.of_owners.get_with(owner, || Arc::new(Semaphore::new(self.each)))
    }
}
