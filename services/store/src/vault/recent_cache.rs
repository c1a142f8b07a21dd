//! A cache with entries that are read again within a second, so that revocations take effect by then. Entries in use
//! are renewed shortly before they expire, so that requests do not wait for the read.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use knowhow_domain::{Error, Result};
use moka::future::Cache;

/// Lifetime of an entry.
const LIFETIME: Duration = Duration::from_millis(900);
/// Extra time for a renewal, beyond the expected duration of the read.
const MARGIN: Duration = Duration::from_millis(50);
/// Maximum number of cached entries.
const CAPACITY: u64 = 10_000;

/// Entries by key.
pub(crate) struct Recent<K, V> {
    entries: Cache<K, Arc<Entry<V>>>,
    /// Number of calls to [`Recent::clear`]. A renewal that began before a call is dropped.
    cleared: AtomicU64,
}

struct Entry<V> {
    value: V,
    read_at: Instant,
    /// Duration of the read.
    took: Duration,
    is_being_renewed: AtomicBool,
}

impl<V> Entry<V> {
    async fn read(reading: impl Future<Output = Result<V>>) -> Result<Arc<Self>> {
        let began = Instant::now();
        let value = reading.await?;
        let (read_at, is_being_renewed) = (Instant::now(), AtomicBool::new(false));
        Ok(Arc::new(Self { value, read_at, took: read_at - began, is_being_renewed }))
    }

    /// Returns whether to start a renewal. If it started later, the entry would expire before the renewal is done.
    /// Only one caller gets `true`.
    fn begins_renewal(&self) -> bool {
        let begin_after = LIFETIME.saturating_sub(2 * self.took + MARGIN);
        self.read_at.elapsed() >= begin_after && !self.is_being_renewed.swap(true, Ordering::Relaxed)
    }
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static, V: Clone + Send + Sync + 'static> Recent<K, V> {
    pub(crate) fn new() -> Arc<Self> {
        let entries = Cache::builder().max_capacity(CAPACITY).time_to_live(LIFETIME).build();
        Arc::new(Self { entries, cleared: AtomicU64::new(0) })
    }

    /// Returns the cached value, or reads it. If several requests need the value, only one of them reads it.
    ///
    /// # Errors
    /// The error of `read`, if the value is not cached.
    pub(crate) async fn get<R>(self: &Arc<Self>, key: K, read: impl FnOnce() -> R) -> Result<V>
    where
        R: Future<Output = Result<V>> + Send + 'static,
    {
        if let Some(entry) = self.entries.get(&key).await {
            if entry.begins_renewal() {
                tokio::spawn(self.clone().renew(key, read()));
            }
            return Ok(entry.value.clone());
        }
        let entry = self.entries.try_get_with(key, Entry::read(read())).await.map_err(Error::of_many)?;
        Ok(entry.value.clone())
    }

    async fn renew(self: Arc<Self>, key: K, reading: impl Future<Output = Result<V>> + Send) {
        let cleared = self.cleared.load(Ordering::SeqCst);
        // If the renewal fails, the entry expires as usual and the next request gets the error.
        let Ok(entry) = Entry::read(reading).await else { return };
        if self.cleared.load(Ordering::SeqCst) != cleared {
            return;
        }
        self.entries.insert(key.clone(), entry).await;
        if self.cleared.load(Ordering::SeqCst) != cleared {
            self.entries.invalidate(&key).await;
        }
    }

    /// Caches a value that was just read.
    pub(crate) async fn put(&self, key: K, value: V) {
        let entry = Entry { value, read_at: Instant::now(), took: Duration::ZERO, is_being_renewed: false.into() };
        self.entries.insert(key, Arc::new(entry)).await;
    }

    /// Drops all entries.
    pub(crate) fn clear(&self) {
        self.cleared.fetch_add(1, Ordering::SeqCst);
        self.entries.invalidate_all();
    }
}

#[cfg(test)]
mod tests;
