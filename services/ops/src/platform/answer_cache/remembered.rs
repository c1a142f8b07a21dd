//! Caches objects that other processes may change, by owner and name.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;

use super::{CacheOwner, cache, owner_of};
use crate::Ctx;

/// After another process has changed an object, this process does not cache it for this time. Otherwise two processes
/// that change the object alternately would always check an outdated copy first.
const MOVED: Duration = Duration::from_secs(60);

/// Maximum number of objects noted as changed by other processes.
const MOST_MOVED: u64 = 10_000;

/// Describes a cached state of an object. The state may be outdated, so the statement that uses it checks that it is
/// current.
pub(crate) trait CachedState: Send + Sync + 'static {
    /// Returns the approximate size of the state in bytes.
    fn weight(&self) -> usize;

    /// Returns whether this state is later than `other`. States may arrive out of order.
    fn is_later_than(&self, other: &Self) -> bool;
}

/// The cached states of all users' objects of one kind.
pub(crate) struct Remembered<N, S> {
    states: Cache<(CacheOwner, N), Arc<S>>,
    moved: Cache<(CacheOwner, N), ()>,
}

impl<N: Hash + Eq + Send + Sync + 'static, S: CachedState> Remembered<N, S> {
    /// Creates an empty cache with a limit in bytes.
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            states: cache(bytes, |state: &Arc<S>| state.weight()),
            moved: Cache::builder().max_capacity(MOST_MOVED).time_to_live(MOVED).build(),
        }
    }

    /// Returns the caller's cached object of this name.
    pub(crate) fn find(&self, ctx: &Ctx, name: impl Into<N>) -> Option<Arc<S>> {
        self.states.get(&key(ctx, name)?)
    }

    /// Caches an object of the caller, unless another process has recently changed it, or the cached state is later.
    pub(crate) fn keep(&self, ctx: &Ctx, name: impl Into<N>, state: Arc<S>) {
        let Some(key) = key(ctx, name) else { return };
        if !self.moved.contains_key(&key) && !self.states.get(&key).is_some_and(|known| known.is_later_than(&state)) {
            self.states.insert(key, state);
        }
    }

    /// Removes an object after a change that bypassed the cache.
    pub(crate) fn forget(&self, ctx: &Ctx, name: impl Into<N>) {
        if let Some(key) = key(ctx, name) {
            self.states.invalidate(&key);
        }
    }

    /// Notes that an object was changed by another process.
    pub(crate) fn note_moved(&self, ctx: &Ctx, name: impl Into<N>) {
        if let Some(key) = key(ctx, name) {
            self.states.invalidate(&key);
            self.moved.insert(key, ());
        }
    }
}

fn key<N>(ctx: &Ctx, name: impl Into<N>) -> Option<(CacheOwner, N)> {
    Some((owner_of(ctx)?, name.into()))
}
