//! Places: how many things of one owner go on at once.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use tokio::sync::Semaphore;

/// The places of each owner, such as a tenant or a user.
pub struct Places<K> {
    of_owners: Cache<K, Arc<Semaphore>>,
    each: usize,
}

/// Most owners.
const OWNERS: u64 = 100_000;
/// For how long the places of an owner are known after they were last asked for: longer than anybody waits for one.
const KNOWN_FOR: Duration = Duration::from_secs(60);

impl<K: Hash + Eq + Send + Sync + 'static> Places<K> {
    /// `each` for every owner.
    pub fn new(each: usize) -> Self {
        Self { of_owners: Cache::builder().max_capacity(OWNERS).time_to_idle(KNOWN_FOR).build(), each }
    }

    /// The owner's: who holds a permit has a place.
    pub fn of(&self, owner: K) -> Arc<Semaphore> {
        self.of_owners.get_with(owner, || Arc::new(Semaphore::new(self.each)))
    }
}
