//! All that recall keeps of users in this process.

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

use super::catalogue::{Needed, UserCatalogue};
use super::handed::HandedIn;
use super::kept::{Kept, Owner, owner_of};
use super::memories::SearchedMemories;
use crate::answers::KeptAnswers;
use crate::{Ctx, compute};

/// From so many skills on it takes more than a moment to find what changed.
const MANY: usize = 500;
/// Pause before a changed catalogue is brought up to date, so that several saves in a row cost one update.
const SOON: Duration = Duration::from_secs(1);
/// Longest that a create waits for what changed elsewhere among many; it goes by what is at hand else.
const BESIDE: Duration = Duration::from_millis(100);
/// Memories may take a part of the bytes besides: one in this many.
const MEMORIES: u64 = 2;
/// Answers may take a part besides: one in this many.
const ANSWERS: u64 = 2;
/// And changes that were just made here: one in this many.
const HANDED_IN: u64 = 8;
/// Copies are built by at most this many requests at once in a process: each takes a processor.
const BUILDING: usize = 2;
/// Of these, copies of many texts: one, so that who changed a skill or two always has the other place.
const BUILDING_MANY: usize = 1;
/// Texts are read for at most this many copies that are or wait to be built: the texts of fifty skills take some 250 KB, and many
/// users come at once when a process has just started.
const READING: usize = 8;
/// Texts of more bytes are many, and wait in a line of their own: some two hundred skills, so that usual libraries have both places
/// when a process has just started and all their users come at once.
pub(super) const QUICK: usize = 1024 * 1024;

/// Counts of the catalogues that were found in memory since the start, and of those that are kept now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct CacheCounts {
    /// Found, and fresh.
    pub hits: u64,
    /// Read and built anew. Neither counted here nor as a hit: examples, which are read by themselves; a change that this
    /// process made itself and need not read; and a request that waits while another one builds the catalogue.
    pub misses: u64,
    /// Users whose catalogue is kept.
    pub users: u64,
    /// Bytes that these take, roughly; `KNOWHOW_CATALOGUE_CACHE_MB` is the most.
    pub bytes: u64,
}

/// What is kept of the users of this process, within a weight.
pub struct Catalogues {
    pub(super) skills: Kept<UserCatalogue>,
    pub(super) memories: Kept<SearchedMemories>,
    /// Skills and lines of the index as they were just shown.
    pub(crate) answers: KeptAnswers,
    /// Changes that this process has made itself.
    pub(super) handed_in: HandedIn,
    /// Catalogues with more skills than these leave the vectors in the database.
    pub(super) vectors_kept: usize,
    /// What the memories of one user may take, about: of more, the oldest are not found.
    pub(super) most_of_memories: usize,
    /// Whose catalogue is to be brought up to date soon.
    awaited: Mutex<HashSet<Owner>>,
    few_texts: Line,
    many_texts: Line,
    misses: AtomicU64,
}

impl Catalogues {
    /// An empty cache of at most so many bytes. Of catalogues with more than `vectors_kept` skills the vectors stay in the
    /// database, and cosines come from there; the ranking is the same.
    pub fn new(bytes: u64, vectors_kept: usize) -> Self {
        let of_memories = bytes / MEMORIES;
        let building = Arc::new(Semaphore::new(BUILDING));
        Self {
            skills: Kept::new(bytes),
            memories: Kept::new(of_memories),
            answers: KeptAnswers::new(bytes / ANSWERS),
            handed_in: HandedIn::new(bytes / HANDED_IN),
            vectors_kept,
            most_of_memories: usize::try_from(of_memories / 2).unwrap_or(usize::MAX),
            awaited: Mutex::default(),
            few_texts: Line::new(&building, BUILDING),
            many_texts: Line::new(&building, BUILDING_MANY),
            misses: AtomicU64::new(0),
        }
    }

    /// How well it does.
    pub async fn counts(&self) -> CacheCounts {
        let (hits, users, bytes) = self.skills.count().await;
        CacheCounts { hits, misses: self.misses.load(Ordering::Relaxed), users, bytes }
    }

    pub(super) fn count_miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// The catalogue at these revisions or later ones.
    pub(crate) async fn get(&self, ctx: &Ctx, revisions: Revisions) -> Result<Arc<UserCatalogue>> {
        self.skills.get(ctx, Needed::of(ctx, revisions)).await
    }

    /// The caller's catalogue as this process has it; `None` where there is none, or one that a search cannot go by, or where this
    /// process knows of a later change.
    pub(crate) async fn find_unless_behind(&self, ctx: &Ctx) -> Result<Option<Arc<UserCatalogue>>> {
        let Some(kept) = self.skills.find(ctx).await? else { return Ok(None) };
        let (skills, examples) = kept.revisions();
        let own = Needed::of(ctx, Revisions { skills, examples: examples.unwrap_or_default() });
        if !kept.has(own) || self.handed_in.is_behind(owner_of(ctx)?, skills) {
            return Ok(None);
        }
        self.skills.note_found(ctx, &kept)?;
        Ok(Some(kept))
    }

    /// The caller's skills to compare a new one with, which may be among them; `made` is the revision that it made. Of many
    /// skills the changes of the last second or so may be missing, and more where it takes too long to find out.
    pub(crate) async fn get_beside(&self, ctx: &Ctx, made: Option<i64>) -> Result<Arc<UserCatalogue>> {
        let (Some(kept), Some(made)) = (self.skills.find(ctx).await?, made) else {
            return catalogue_now(ctx).await;
        };
        // What was before it is known without asking, and its own text waits for who searches.
        let before = Revisions { skills: made - 1, examples: kept.examples_revision.unwrap_or_default() };
        if kept.skills.len() <= MANY {
            return self.get(ctx, before).await;
        }
        if self.is_awaited(ctx)? || kept.has(Needed::of(ctx, before)) {
            self.bring_up_to_date_soon(ctx)?;
            return Ok(kept);
        }
        // Another process has changed some, or a job. What was begun goes on where it takes longer.
        let current = timeout(BESIDE, self.get(ctx, before)).await;
        self.bring_up_to_date_soon(ctx)?;
        current.unwrap_or(Ok(kept))
    }

    /// Whether there is a catalogue of the caller's, however old.
    pub(crate) fn has(&self, ctx: &Ctx) -> bool {
        owner_of(ctx).is_ok_and(|owner| self.skills.has(&owner))
    }

    /// Has the caller's catalogue made, where there is none, beside whatever the caller does: that of many skills takes
    /// longer than a turn waits.
    pub(crate) fn prepare(&self, ctx: &Ctx) {
        if owner_of(ctx).is_ok() && !self.has(ctx) {
            bring_up_to_date(ctx);
        }
    }

    /// Where a copy of texts of so many bytes waits to be built.
    pub(super) fn line(&self, bytes: usize) -> &Line {
        if bytes > QUICK { &self.many_texts } else { &self.few_texts }
    }

    /// Whether the caller's catalogue is brought up to date within a second.
    fn is_awaited(&self, ctx: &Ctx) -> Result<bool> {
        Ok(self.lock_awaited().contains(&owner_of(ctx)?))
    }

    /// Once for all that the caller changes within a second.
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

/// Who builds copies, one behind the other.
pub(super) struct Line {
    reading: Semaphore,
    turns: Semaphore,
    /// The places of all lines of the process.
    building: Arc<Semaphore>,
}

impl Line {
    /// A line that takes at most so many of the places at once.
    fn new(building: &Arc<Semaphore>, most: usize) -> Self {
        let (reading, turns) = (Semaphore::new(READING), Semaphore::new(most));
        Self { reading, turns, building: building.clone() }
    }

    /// A place for texts in memory, to be held from before they are read until the copy is built.
    pub(super) async fn place_for_texts(&self) -> Result<SemaphorePermit<'_>> {
        self.reading.acquire().await.map_err(Error::internal)
    }

    /// Builds a copy, beside the threads that answer requests.
    pub(super) async fn build<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let _place = self.place_to_build().await?;
        compute(move || Ok(work())).await
    }

    /// The line's turn, and then a place: who waits for a turn keeps no place from the other line.
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

/// The user's catalogue as of now.
pub(crate) async fn catalogue_now(ctx: &Ctx) -> Result<Arc<UserCatalogue>> {
    let revisions = skills::find_revisions(&ctx.app.db, &ctx.principal).await?;
    ctx.app.catalogues.get(ctx, revisions).await
}

/// The user's catalogue as this process has it, or else as of now: for what may miss the last changes.
pub(crate) async fn catalogue_at_hand(ctx: &Ctx) -> Result<Arc<UserCatalogue>> {
    match ctx.app.catalogues.skills.find(ctx).await? {
        Some(kept) => Ok(kept),
        None => catalogue_now(ctx).await,
    }
}
