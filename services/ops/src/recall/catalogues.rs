//! Caches each user's catalogue, memories and recent answers in this process.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use knowhow_domain::{Error, Result};
use knowhow_store::skills::{self, Revisions};
use serde::Serialize;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use utoipa::ToSchema;

use super::catalogue::{CatalogueState, UserCatalogue};
use super::memories::SearchedMemories;
use crate::platform::answer_cache::AnswerCaches;
use crate::recall::own_changes::OwnChanges;
use crate::recall::user_cache::{Owner, UserCopies, owner_of};
use crate::{Ctx, compute};

/// Maximum number of skills in a catalogue that can be refreshed without a noticeable delay.
const MANY: usize = 500;
/// Wait before a changed catalogue is refreshed, so that several saves in a row cause one refresh.
const SOON: Duration = Duration::from_secs(1);
/// Maximum time that the creation of a skill waits for changes by other processes, if the user has many skills. If it
/// passes, the cached catalogue is used.
const BESIDE: Duration = Duration::from_millis(100);
/// Divisor of the catalogues' byte limit. The result is the additional limit for memories.
const MEMORIES: u64 = 2;
/// Divisor of the catalogues' byte limit. The result is the additional limit for answers.
const ANSWERS: u64 = 2;
/// Divisor of the catalogues' byte limit. The result is the additional limit for recent changes by this process.
const OWN_CHANGES: u64 = 8;
/// Maximum number of search copies (a user's catalogue or memories) that a process builds at once, because each
/// occupies a processor.
const MAX_BUILDS: usize = 2;
/// Maximum number of search copies with many texts that are built at once. The other slot stays free for small changes.
const MAX_LARGE_BUILDS: usize = 1;
/// Maximum number of search copies per queue with texts in memory, both waiting and being built. The texts of fifty
/// skills take about 250 KB, and many users send their first request right after a restart.
const READING: usize = 8;
/// Maximum number of bytes of text to read for a search copy that uses the queue for few texts; about two hundred
/// skills. So usual libraries can use both slots right after a restart, when many users send requests at once.
pub(super) const QUICK: usize = 1024 * 1024;

/// Counts of catalogue lookups since the start, and the current size of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct CacheCounts {
    /// Number of lookups that found a current catalogue.
    pub hits: u64,
    /// Number of catalogues that were read and rebuilt. Three cases count neither as a hit nor as a miss:
    /// - examples, which are read separately
    /// - a change by this process, which need not be read
    /// - a request that waits while another one builds the catalogue
    pub misses: u64,
    /// Number of users with a cached catalogue.
    pub users: u64,
    /// Approximate size of these catalogues in bytes; `KNOWHOW_CATALOGUE_CACHE_MB` is the limit.
    pub bytes: u64,
}

/// Caches for the users of this process, limited by size.
pub struct Catalogues {
    pub(super) skills: UserCopies<UserCatalogue>,
    pub(super) memories: UserCopies<SearchedMemories>,
    /// Skills and index lines that were shown recently.
    pub(crate) answers: AnswerCaches,
    /// Recent changes that this process made.
    pub(super) own_changes: OwnChanges,
    /// Maximum number of skills in a catalogue with cached vectors. Larger catalogues leave the vectors in the
    /// database.
    pub(super) vectors_kept: usize,
    /// Approximate maximum number of bytes for the memories of one user. Beyond it, the oldest memories are not found.
    pub(super) most_of_memories: usize,
    /// Users with a scheduled refresh of their catalogue.
    awaited: Mutex<HashSet<Owner>>,
    few_texts: BuildQueue,
    many_texts: BuildQueue,
    misses: AtomicU64,
}

impl Catalogues {
    /// Returns empty caches; `bytes` limits the catalogues. A catalogue with more than `vectors_kept` skills leaves
    /// its vectors in the database, which then computes the cosines. The ranking is the same.
    pub fn new(bytes: u64, vectors_kept: usize) -> Self {
        let of_memories = bytes / MEMORIES;
        let building = Arc::new(Semaphore::new(MAX_BUILDS));
        Self {
            skills: UserCopies::new(bytes),
            memories: UserCopies::new(of_memories),
            answers: AnswerCaches::new(bytes / ANSWERS),
            own_changes: OwnChanges::new(bytes / OWN_CHANGES),
            vectors_kept,
            most_of_memories: usize::try_from(of_memories / 2).unwrap_or(usize::MAX),
            awaited: Mutex::default(),
            few_texts: BuildQueue::new(&building, MAX_BUILDS),
            many_texts: BuildQueue::new(&building, MAX_LARGE_BUILDS),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns the counts of hits and misses, and the current size.
    pub async fn counts(&self) -> CacheCounts {
        let (hits, users, bytes) = self.skills.count().await;
        CacheCounts { hits, misses: self.misses.load(Ordering::Relaxed), users, bytes }
    }

    pub(super) fn count_miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the catalogue at these revisions or later ones.
    pub(crate) async fn get(&self, ctx: &Ctx, revisions: Revisions) -> Result<Arc<UserCatalogue>> {
        self.skills.get(ctx, CatalogueState::of(ctx, revisions)).await
    }

    /// Returns the caller's cached catalogue. Returns `None` in three cases:
    /// - the caller has no cached catalogue
    /// - the examples or the vectors of starters are outdated
    /// - this process has made a later change
    pub(crate) async fn find_current(&self, ctx: &Ctx) -> Result<Option<Arc<UserCatalogue>>> {
        let Some(cached) = self.skills.find(ctx).await? else { return Ok(None) };
        let (skills, examples) = cached.revisions();
        let own = CatalogueState::of(ctx, Revisions { skills, examples: examples.unwrap_or_default() });
        if !cached.has(own) || self.own_changes.is_behind(owner_of(ctx)?, skills) {
            return Ok(None);
        }
        self.skills.note_found(ctx, &cached)?;
        Ok(Some(cached))
    }

    /// Returns the catalogue that a new skill is compared with. It may include that skill. `made` is the revision of
    /// the creation. If the user has many skills, the changes in the last second may be missing. Older changes may be
    /// missing too, if reading them takes longer than `BESIDE`.
    pub(crate) async fn get_beside(&self, ctx: &Ctx, made: Option<i64>) -> Result<Arc<UserCatalogue>> {
        let (Some(cached), Some(made)) = (self.skills.find(ctx).await?, made) else {
            return catalogue_now(ctx).await;
        };
        // The revision before the creation is known without a query. The next search reads the new text itself.
        let before = Revisions { skills: made - 1, examples: cached.examples_revision.unwrap_or_default() };
        if cached.skills.len() <= MANY {
            return self.get(ctx, before).await;
        }
        if self.is_awaited(ctx)? || cached.has(CatalogueState::of(ctx, before)) {
            self.bring_up_to_date_soon(ctx)?;
            return Ok(cached);
        }
        // Another process or a job changed skills. If the refresh takes too long, it continues in the background.
        let current = timeout(BESIDE, self.get(ctx, before)).await;
        self.bring_up_to_date_soon(ctx)?;
        current.unwrap_or(Ok(cached))
    }

    /// Returns whether a catalogue of the caller is cached, even if it is outdated.
    pub(crate) fn has(&self, ctx: &Ctx) -> bool {
        owner_of(ctx).is_ok_and(|owner| self.skills.has(&owner))
    }

    /// Builds the caller's catalogue in the background if it is not cached, because building one with many skills
    /// takes longer than a turn waits.
    pub(crate) fn prepare(&self, ctx: &Ctx) {
        if owner_of(ctx).is_ok() && !self.has(ctx) {
            bring_up_to_date(ctx);
        }
    }

    /// Returns the queue for a search copy with `bytes` bytes of text.
    pub(super) fn line(&self, bytes: usize) -> &BuildQueue {
        if bytes > QUICK { &self.many_texts } else { &self.few_texts }
    }

    /// Returns whether a refresh of the caller's catalogue is scheduled.
    fn is_awaited(&self, ctx: &Ctx) -> Result<bool> {
        Ok(self.lock_awaited().contains(&owner_of(ctx)?))
    }

    /// Schedules one refresh for all changes by the caller within a second.
    fn bring_up_to_date_soon(&self, ctx: &Ctx) -> Result<()> {
        let owner = owner_of(ctx)?;
        if self.lock_awaited().insert(owner) {
            let ctx = ctx.clone();
            tokio::spawn(async move {
                tokio::time::sleep(SOON).await;
                ctx.app.catalogues.lock_awaited().remove(&owner);
                bring_up_to_date(&ctx);
            });
        }
        Ok(())
    }

    fn lock_awaited(&self) -> MutexGuard<'_, HashSet<Owner>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A queue of search copies to build.
pub(super) struct BuildQueue {
    reading: Semaphore,
    turns: Semaphore,
    /// Slots that all queues of the process share.
    building: Arc<Semaphore>,
}

impl BuildQueue {
    /// Returns a queue that uses at most `most` of the shared slots at once.
    fn new(building: &Arc<Semaphore>, most: usize) -> Self {
        let (reading, turns) = (Semaphore::new(READING), Semaphore::new(most));
        Self { reading, turns, building: building.clone() }
    }

    /// Waits for a permit to have texts in memory. The caller holds it from before the texts are read until the search
    /// copy is built.
    pub(super) async fn place_for_texts(&self) -> Result<SemaphorePermit<'_>> {
        self.reading.acquire().await.map_err(Error::internal)
    }

    /// Builds a search copy on a blocking thread.
    pub(super) async fn build<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let _place = self.place_to_build().await?;
        compute(move || Ok(work())).await
    }

    /// Waits for a slot of this queue, and then for a shared slot. While a search copy waits for the first slot, the
    /// other queue can use the shared slots.
    pub(super) async fn place_to_build(&self) -> Result<[SemaphorePermit<'_>; 2]> {
        let turn = self.turns.acquire().await.map_err(Error::internal)?;
        Ok([turn, self.building.acquire().await.map_err(Error::internal)?])
    }
}

fn bring_up_to_date(ctx: &Ctx) {
    let ctx = ctx.clone();
    tokio::spawn(async move {
        if let Err(error) = catalogue_now(&ctx).await {
            tracing::debug!(%error, "a catalogue was not prepared; who needs it makes it");
        }
    });
}

/// Returns the user's current catalogue.
pub(crate) async fn catalogue_now(ctx: &Ctx) -> Result<Arc<UserCatalogue>> {
    let revisions = skills::find_revisions(&ctx.app.db, &ctx.principal).await?;
    ctx.app.catalogues.get(ctx, revisions).await
}

/// Returns the user's cached catalogue, even if it is outdated, or else builds the current one. Used by callers that do
/// not need the latest changes.
pub(crate) async fn cached_catalogue(ctx: &Ctx) -> Result<Arc<UserCatalogue>> {
    match ctx.app.catalogues.skills.find(ctx).await? {
        Some(cached) => Ok(cached),
        None => catalogue_now(ctx).await,
    }
}
