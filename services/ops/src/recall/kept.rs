//! What this process keeps of users to search it. Each copy is brought up to date by one request, however many ask for it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::trail;
use knowhow_telemetry::trace;
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};
use moka::policy::EvictionPolicy;

use crate::{App, Ctx};

/// A copy that was not used for this long leaves the memory.
const IDLE: Duration = Duration::from_secs(3600);
/// Pause before texts that could not be read are tried again, and how often.
const PAUSE: Duration = Duration::from_secs(5);
const TRIES: usize = 5;

pub(super) type Owner = (TenantId, UserId);

/// All of one user's skills, or memories, in the form that is searched.
pub(crate) trait Searched: Default + Send + Sync + 'static {
    /// How far the database has come, by which a copy is found to be fresh.
    type State: Copy + Send + Sync + 'static;

    /// Notes among the metrics whether a fresh copy was in memory.
    fn note_lookup(_is_hit: bool) {}

    /// Where copies of this kind are kept.
    fn kept(app: &App) -> &Kept<Self>;

    /// Whether it is as the database is.
    fn is_at(&self, state: Self::State) -> bool;

    /// Whether nothing is to be read that there is room for: of many texts some follow in the background.
    fn is_complete(&self) -> bool;

    /// Bytes of memory held.
    fn weight(&self) -> usize;

    /// The copy as of now, with some of the texts that are missing. `None` asks for these alone.
    fn refresh(self: Arc<Self>, ctx: &Ctx, state: Option<Self::State>) -> impl Future<Output = Result<Self>> + Send;
}

/// Copies of one kind, within a weight.
pub(crate) struct Kept<S> {
    copies: Cache<Owner, Arc<S>>,
    /// Whose missing texts are being read.
    completing: Mutex<HashSet<Owner>>,
    hits: AtomicU64,
}

impl<S: Searched> Kept<S> {
    /// None yet, and at most so many bytes.
    pub(super) fn new(bytes: u64) -> Self {
        let weigh = |_: &Owner, copy: &Arc<S>| u32::try_from(copy.weight()).unwrap_or(u32::MAX);
        // Who comes back takes turns one after the other. By how often they asked, which is moka's usual rule, a newcomer's copy
        // would be made anew for each of the first turns while others of an hour ago are kept.
        let copies = Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE);
        let copies = copies.eviction_policy(EvictionPolicy::lru()).build();
        Self { copies, completing: Mutex::default(), hits: AtomicU64::new(0) }
    }

    /// The caller's copy, however old.
    pub(super) async fn find(&self, ctx: &Ctx) -> Result<Option<Arc<S>>> {
        Ok(self.copies.get(&owner_of(ctx)?).await)
    }

    /// Whether there is a copy of the caller's.
    pub(super) fn has(&self, owner: &Owner) -> bool {
        self.copies.contains_key(owner)
    }

    /// The caller's copy at this state of the database, or a later one.
    pub(super) async fn get(&self, ctx: &Ctx, state: S::State) -> Result<Arc<S>> {
        let owner = owner_of(ctx)?;
        let copy = match self.copies.get(&owner).await.filter(|copy| copy.is_at(state)) {
            Some(copy) => {
                self.note_found(ctx, &copy)?;
                return Ok(copy);
            }
            None => {
                S::note_lookup(false);
                // A task of its own: if this caller gives up, the next one finds the work done.
                let own = ctx.clone();
                let refresh = async move { S::kept(&own.app).refresh(&own, owner, Some(state)).await };
                let refreshed = tokio::spawn(trail::carry(trace::carried(refresh)));
                refreshed.await.map_err(Error::internal)??
            }
        };
        self.complete(ctx, owner, &copy);
        Ok(copy)
    }

    /// Counts a copy of the caller's as found, and has it completed where it is not.
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

    /// How often a fresh copy was found, how many copies there are, and the bytes they take.
    pub(super) async fn count(&self) -> (u64, u64, u64) {
        // What was put in or let go a moment ago is not in its sums before.
        self.copies.run_pending_tasks().await;
        (self.hits.load(Ordering::Relaxed), self.copies.entry_count(), self.copies.weighted_size())
    }

    /// Refreshes a copy, unless another request has just done so. With `None`, one that has gone is not made again.
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

/// Reads the texts that a copy lacks bit by bit, while it serves without them. A request after the last try begins anew.
async fn complete<S: Searched>(ctx: Ctx, owner: Owner) {
    let kept = S::kept(&ctx.app);
    let mut failures = 0;
    while failures < TRIES && kept.copies.get(&owner).await.is_some_and(|copy| !copy.is_complete()) {
        if let Err(error) = kept.refresh(&ctx, owner, None).await {
            tracing::warn!(%error, "the texts of many skills or memories were not read");
            failures += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }
    kept.lock_completing().remove(&owner);
}

/// Whose copies the caller searches.
pub(super) fn owner_of(ctx: &Ctx) -> Result<Owner> {
    Ok((ctx.principal.tenant(), ctx.principal.user()?))
}

#[cfg(test)]
mod tests;
