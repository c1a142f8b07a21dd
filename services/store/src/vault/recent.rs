//! A cache of rows that must be read again within a second, so that a revocation holds by then. Rows in use are read again
//! shortly before they end, so that requests do not wait for that.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use knowhow_domain::{Error, Result};
use moka::future::Cache;

/// The time after which an entry is read again.
const LIFETIME: Duration = Duration::from_millis(900);
/// Time for a renewal beside what reading takes.
const MARGIN: Duration = Duration::from_millis(50);
const CAPACITY: u64 = 10_000;

/// Entries by key.
pub(crate) struct Recent<K, V> {
    entries: Cache<K, Arc<Entry<V>>>,
    /// Counts the calls of [`Recent::clear`], so that a renewal that began before one is dropped.
    cleared: AtomicU64,
}

struct Entry<V> {
    value: V,
    read_at: Instant,
    /// The time that reading took.
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

    /// Whether it ends before a renewal that begins a little later would be done. True for one caller alone.
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

    /// Returns the cached value, or reads it. One of the requests that miss it at once reads it for all.
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
        // An entry that cannot be renewed ends in its time, and the next request gets the error.
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
