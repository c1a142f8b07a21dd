//! Caches searchable copies of each user's data in this process. Concurrent requests for the same copy share one
//! refresh.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::vault::request_context;
use knowhow_telemetry::trace;
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};
use moka::policy::EvictionPolicy;

use crate::{App, Ctx};

/// Idle time after which a copy is evicted.
const IDLE: Duration = Duration::from_secs(3600);
/// Wait before a failed read of texts is retried.
const PAUSE: Duration = Duration::from_secs(5);
/// Number of failed reads after which the texts of a copy are no longer read.
const TRIES: usize = 5;

pub(super) type Owner = (TenantId, UserId);

/// A searchable copy of all skills or all memories of one user.
pub(crate) trait SearchCopy: Default + Send + Sync + 'static {
    /// State of the database. A copy is current if it is at this state.
    type State: Copy + Send + Sync + 'static;

    /// Counts a lookup in the metrics. `is_hit` is true if a current copy was cached.
    fn note_lookup(_is_hit: bool) {}

    /// Returns the cache for this type of copy.
    fn copies(app: &App) -> &UserCopies<Self>;

    /// Returns whether the copy is at this state of the database.
    fn is_at(&self, state: Self::State) -> bool;

    /// Returns whether all texts within the limit of size were read. Many texts are read in steps, in the background.
    fn is_complete(&self) -> bool;

    /// Returns the approximate size of the copy in bytes.
    fn weight(&self) -> usize;

    /// Returns an updated copy, with some of the missing texts. If `state` is `None`, only missing texts are read.
    fn refresh(self: Arc<Self>, ctx: &Ctx, state: Option<Self::State>) -> impl Future<Output = Result<Self>> + Send;
}

/// A cache of one type of copy, limited by size.
pub(crate) struct UserCopies<S> {
    copies: Cache<Owner, Arc<S>>,
    /// Owners of copies with a background task that reads missing texts.
    completing: Mutex<HashSet<Owner>>,
    hits: AtomicU64,
}

impl<S: SearchCopy> UserCopies<S> {
    /// Returns an empty cache of at most `bytes`.
    pub(super) fn new(bytes: u64) -> Self {
        let weigh = |_: &Owner, copy: &Arc<S>| u32::try_from(copy.weight()).unwrap_or(u32::MAX);
        // Evicts the least recently used copy, because a returning user takes several turns in a row. moka's default
        // evicts the least frequently used copy: a new user's copy would be rebuilt for each of the first turns,
        // while copies that were last used an hour ago stay cached.
        let copies = Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE);
        let copies = copies.eviction_policy(EvictionPolicy::lru()).build();
        Self { copies, completing: Mutex::default(), hits: AtomicU64::new(0) }
    }

    /// Returns the caller's cached copy, even if it is outdated.
    pub(super) async fn find(&self, ctx: &Ctx) -> Result<Option<Arc<S>>> {
        Ok(self.copies.get(&owner_of(ctx)?).await)
    }

    /// Returns whether a copy of this owner is cached.
    pub(super) fn has(&self, owner: &Owner) -> bool {
        self.copies.contains_key(owner)
    }

    /// Returns the caller's copy at this state of the database or a later one.
    pub(super) async fn get(&self, ctx: &Ctx, state: S::State) -> Result<Arc<S>> {
        let owner = owner_of(ctx)?;
        let copy = match self.copies.get(&owner).await.filter(|copy| copy.is_at(state)) {
            Some(copy) => {
                self.note_found(ctx, &copy)?;
                return Ok(copy);
            }
            None => {
                S::note_lookup(false);
                // The refresh runs in its own task, so it completes for the next caller even if this caller gives up.
                let own = ctx.clone();
                let refresh = async move { S::copies(&own.app).refresh(&own, owner, Some(state)).await };
                let refreshed = tokio::spawn(request_context::carry(trace::carried(refresh)));
                refreshed.await.map_err(Error::internal)??
            }
        };
        self.complete(ctx, owner, &copy);
        Ok(copy)
    }

    /// Counts the caller's copy as a hit, and starts a background read of its missing texts.
    pub(super) fn note_found(&self, ctx: &Ctx, copy: &S) -> Result<()> {
        self.hits.fetch_add(1, Ordering::Relaxed);
        S::note_lookup(true);
        self.complete(ctx, owner_of(ctx)?, copy);
        Ok(())
    }

    fn complete(&self, ctx: &Ctx, owner: Owner, copy: &S) {
        if !copy.is_complete() && self.lock_completing().insert(owner) {
            tokio::spawn(complete::<S>(ctx.clone(), owner));
        }
    }

    /// Returns the number of hits, the number of copies, and the size of all copies in bytes.
    pub(super) async fn count(&self) -> (u64, u64, u64) {
        // Until pending tasks have run, the counts lack recent inserts and evictions.
        self.copies.run_pending_tasks().await;
        (self.hits.load(Ordering::Relaxed), self.copies.entry_count(), self.copies.weighted_size())
    }

    /// Refreshes a copy, unless another request has just refreshed it. If `state` is `None`, an evicted copy is not
    /// rebuilt.
    async fn refresh(&self, ctx: &Ctx, owner: Owner, state: Option<S::State>) -> Result<Arc<S>> {
        let is_good = |copy: &S| state.map_or_else(|| copy.is_complete(), |state| copy.is_at(state));
        let refreshed = self.copies.entry(owner).and_try_compute_with(async |copy| {
            let before = copy.map(|copy| copy.into_value());
            if before.as_deref().map_or(state.is_none(), is_good) {
                return Ok(Op::Nop);
            }
            let after = before.unwrap_or_default().refresh(ctx, state).await?;
            Ok::<_, Error>(Op::Put(Arc::new(after)))
        });
        Ok(match refreshed.await? {
            CompResult::Inserted(entry) | CompResult::ReplacedWith(entry) | CompResult::Unchanged(entry) => {
                entry.into_value()
            }
            CompResult::Removed(_) | CompResult::StillNone(_) => Arc::default(),
        })
    }

    fn lock_completing(&self) -> MutexGuard<'_, HashSet<Owner>> {
        self.completing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the missing texts of a copy in steps, while the copy is in use. Gives up after `TRIES` failures; the next
/// request starts again.
async fn complete<S: SearchCopy>(ctx: Ctx, owner: Owner) {
    let cache = S::copies(&ctx.app);
    let mut failures = 0;
    while failures < TRIES && cache.copies.get(&owner).await.is_some_and(|copy| !copy.is_complete()) {
        if let Err(error) = cache.refresh(&ctx, owner, None).await {
            tracing::warn!(%error, "the texts of many skills or memories were not read");
            failures += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }
    cache.lock_completing().remove(&owner);
}

/// Returns the tenant and user of the caller.
pub(super) fn owner_of(ctx: &Ctx) -> Result<Owner> {
    Ok((ctx.principal.tenant(), ctx.principal.user()?))
}

#[cfg(test)]
mod tests;
