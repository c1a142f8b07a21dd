//! What this process has last seen of things that other processes change too, by their owners and names.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;

use super::{Owner, cache, owner_of};
use crate::Ctx;

/// How long something is not kept that was changed elsewhere: two processes that change it in turn would each ask in vain first.
const MOVED: Duration = Duration::from_secs(60);

/// Most things that are noted as changed elsewhere.
const MOST_MOVED: u64 = 10_000;

/// Something as it was a moment ago. By itself it decides nothing: the statement that goes by it checks that it is still so.
pub(crate) trait Seen: Send + Sync + 'static {
    /// Bytes that it takes, roughly.
    fn weight(&self) -> usize;

    /// Whether it shows a later state of the same thing: what was seen first may arrive last.
    fn is_later_than(&self, other: &Self) -> bool;
}

/// What was last seen of all users' things of one kind.
pub(crate) struct Remembered<N, S> {
    kept: Cache<(Owner, N), Arc<S>>,
    moved: Cache<(Owner, N), ()>,
}

impl<N: Hash + Eq + Send + Sync + 'static, S: Seen> Remembered<N, S> {
    /// Nothing yet, and at most so many bytes.
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            kept: cache(bytes, |seen: &Arc<S>| seen.weight()),
            moved: Cache::builder().max_capacity(MOST_MOVED).time_to_live(MOVED).build(),
        }
    }

    /// The caller's thing of that name as it was last seen here.
    pub(crate) fn find(&self, ctx: &Ctx, name: impl Into<N>) -> Option<Arc<S>> {
        self.kept.get(&key(ctx, name)?)
    }

    /// Keeps something of the caller's, unless it was found changed elsewhere a moment ago.
    pub(crate) fn keep(&self, ctx: &Ctx, name: impl Into<N>, seen: Arc<S>) {
        let Some(key) = key(ctx, name) else { return };
        if !self.moved.contains_key(&key) && !self.kept.get(&key).is_some_and(|kept| kept.is_later_than(&seen)) {
            self.kept.insert(key, seen);
        }
    }

    /// Lets go of something that is changed otherwise.
    pub(crate) fn forget(&self, ctx: &Ctx, name: impl Into<N>) {
        if let Some(key) = key(ctx, name) {
            self.kept.invalidate(&key);
        }
    }

    /// Notes that something was found to be changed elsewhere.
    pub(crate) fn note_moved(&self, ctx: &Ctx, name: impl Into<N>) {
        if let Some(key) = key(ctx, name) {
            self.kept.invalidate(&key);
            self.moved.insert(key, ());
        }
    }
}

fn key<N>(ctx: &Ctx, name: impl Into<N>) -> Option<(Owner, N)> {
    Some((owner_of(ctx)?, name.into()))
}
