//! The catalogues of users, kept in this process for as long as the user's revision is the same.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::examples::{self, LearnedVectors};
use knowhow_store::skills::{self, Revisions};
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};
use serde::Serialize;
use tokio::sync::{Semaphore, SemaphorePermit};
use utoipa::ToSchema;

use super::UserCatalogue;
use super::refresh::refresh;
use crate::Ctx;
use crate::memories::KeptMemories;
use crate::skills::at_hand::AtHand;

/// A catalogue that was not used for this long leaves the memory.
const IDLE: Duration = Duration::from_secs(3600);
/// Pause before bodies that could not be read are tried again, and how often.
const PAUSE: Duration = Duration::from_secs(5);
const TRIES: usize = 5;
/// From so many skills on it takes more than a moment to find what changed.
const MANY: usize = 500;
/// Pause before a changed catalogue is brought up to date, so that several saves in a row cost one update.
const SOON: Duration = Duration::from_secs(1);
/// Memories may take a part of the bytes besides: one in this many.
const MEMORIES: u64 = 2;
/// Skills at hand may take a part besides: one in this many.
const AT_HAND: u64 = 4;
/// Bodies are counted for at most this many requests at once: each takes a processor.
const COUNTING: usize = 2;

/// What a kept catalogue must hold.
#[derive(Clone, Copy)]
pub(super) struct Needed {
    pub(super) revision: i64,
    /// `None` where examples are to be of no effect.
    pub(super) examples: Option<i64>,
    /// The present state of the library of starters.
    pub(super) library: u64,
}

impl Needed {
    fn of(ctx: &Ctx, revisions: Revisions) -> Self {
        let counts = ctx.principal.settings().learns() && ctx.app.models.embedder.is_some();
        let examples = counts.then_some(revisions.examples);
        Self { revision: revisions.skills, examples, library: ctx.app.library.vectors() }
    }
}

/// Counts of the catalogues that were found in memory since the start, and of those that are kept now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct CacheCounts {
    /// Found, and fresh.
    pub hits: u64,
    /// Read and built anew. Examples are read by themselves, and not counted. A request that waits while another one
    /// builds the catalogue counts neither here nor as a hit.
    pub misses: u64,
    /// Users whose catalogue is kept.
    pub users: u64,
    /// Bytes that these take, roughly; `KNOWHOW_CATALOGUE_CACHE_MB` is the most.
    pub bytes: u64,
}

/// The catalogues of the users of this process, within a weight.
pub struct Catalogues {
    kept: Cache<(TenantId, UserId), Arc<UserCatalogue>>,
    vectors_kept: usize,
    pub(crate) memories: KeptMemories,
    /// Skills that were just loaded or saved.
    pub(crate) at_hand: AtHand,
    /// Whose catalogue is to be brought up to date soon.
    awaited: Mutex<HashSet<(TenantId, UserId)>>,
    /// Who counts many bodies.
    counting: Semaphore,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Catalogues {
    /// An empty cache of at most so many bytes. Of catalogues with more than `vectors_kept` skills the vectors stay in the
    /// database, and cosines come from there; the ranking is the same.
    pub fn new(bytes: u64, vectors_kept: usize) -> Self {
        let kept = Cache::builder()
            .weigher(|_, catalogue: &Arc<UserCatalogue>| catalogue.weight())
            .max_capacity(bytes)
            .time_to_idle(IDLE)
            .build();
        let counting = Semaphore::new(COUNTING);
        Self {
            kept,
            vectors_kept,
            memories: KeptMemories::new(bytes / MEMORIES),
            at_hand: AtHand::new(bytes / AT_HAND),
            counting,
            awaited: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// How well it does.
    pub async fn counts(&self) -> CacheCounts {
        // What was put in or let go a moment ago is not in its sums before.
        self.kept.run_pending_tasks().await;
        CacheCounts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            users: self.kept.entry_count(),
            bytes: self.kept.weighted_size(),
        }
    }

    /// The catalogue at these revisions or later ones. However many ask at once, one builds it.
    pub(crate) async fn get(&self, ctx: &Ctx, revisions: Revisions) -> Result<Arc<UserCatalogue>> {
        let key = (ctx.principal.tenant(), ctx.principal.user()?);
        let needed = Needed::of(ctx, revisions);
        if let Some(kept) = self.kept.get(&key).await.filter(|kept| kept.has(needed)) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(kept);
        }
        // A task of its own, so that a caller that cannot wait leaves it to the next one.
        let ctx = ctx.clone();
        tokio::spawn(async move { ctx.app.catalogues.build(&ctx, key, needed).await }).await.map_err(Error::internal)?
    }

    /// A catalogue of the caller that need not have the changes of the last second or so: of many skills the one that is
    /// kept is taken.
    pub(crate) async fn get_recent(&self, ctx: &Ctx) -> Result<Arc<UserCatalogue>> {
        let kept = self.kept.get(&(ctx.principal.tenant(), ctx.principal.user()?)).await;
        let Some(kept) = kept.filter(|kept| kept.skills.len() > MANY) else {
            return catalogue_now(ctx).await;
        };
        self.bring_up_to_date_soon(ctx)?;
        Ok(kept)
    }

    /// Once for all that the caller changes within a second.
    fn bring_up_to_date_soon(&self, ctx: &Ctx) -> Result<()> {
        let key = (ctx.principal.tenant(), ctx.principal.user()?);
        if self.lock_awaited().insert(key) {
            let ctx = ctx.clone();
            tokio::spawn(async move {
                tokio::time::sleep(SOON).await;
                ctx.app.catalogues.lock_awaited().remove(&key);
                ctx.app.catalogues.bring_up_to_date(&ctx);
            });
        }
        Ok(())
    }

    fn lock_awaited(&self) -> MutexGuard<'_, HashSet<(TenantId, UserId)>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the caller's catalogue made, where there is none, beside whatever the caller does: that of many skills takes
    /// longer than a turn waits.
    pub(crate) fn prepare(&self, ctx: &Ctx) {
        let Ok(user) = ctx.principal.user() else { return };
        if self.kept.contains_key(&(ctx.principal.tenant(), user)) {
            return;
        }
        self.bring_up_to_date(ctx);
    }

    fn bring_up_to_date(&self, ctx: &Ctx) {
        let ctx = ctx.clone();
        tokio::spawn(async move {
            if let Err(error) = catalogue_now(&ctx).await {
                tracing::debug!(%error, "a catalogue was not prepared; who needs it makes it");
            }
        });
    }

    /// Waits until it may count many bodies.
    pub(crate) async fn take_turn(&self) -> Result<SemaphorePermit<'_>> {
        self.counting.acquire().await.map_err(Error::internal)
    }

    /// Adds some of the bodies that a catalogue lacks; `false` where it has them all, or is not there any more.
    async fn add_some_bodies(&self, ctx: &Ctx, key: (TenantId, UserId)) -> Result<bool> {
        let built = self.kept.entry(key).and_try_compute_with(async |kept| {
            let Some(before) = kept.filter(|kept| !kept.value().has_bodies) else { return Ok(Op::Nop) };
            let before = before.into_value();
            let catalogue = refresh(ctx, &before, self.vectors_kept, ctx.app.library.vectors()).await?;
            let catalogue = learn(ctx, &catalogue, before.examples_revision).await?;
            Ok::<_, Error>(Op::Put(Arc::new(catalogue)))
        });
        Ok(match built.await? {
            CompResult::ReplacedWith(entry) => !entry.value().has_bodies,
            _ => false,
        })
    }

    async fn build(&self, ctx: &Ctx, key: (TenantId, UserId), needed: Needed) -> Result<Arc<UserCatalogue>> {
        let built = self.kept.entry(key).and_try_compute_with(async |kept| match kept {
            Some(kept) if kept.value().has(needed) => Ok(Op::Nop),
            Some(kept) if kept.value().has_skills(needed) => {
                learn(ctx, kept.value(), needed.examples).await.map(|catalogue| Op::Put(Arc::new(catalogue)))
            }
            _ => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                let before = kept.map(|kept| kept.value().clone()).unwrap_or_default();
                let catalogue = refresh(ctx, &before, self.vectors_kept, needed.library).await?;
                if before.has_bodies && !catalogue.has_bodies {
                    tokio::spawn(add_bodies(ctx.clone(), key));
                }
                learn(ctx, &catalogue, needed.examples).await.map(|catalogue| Op::Put(Arc::new(catalogue)))
            }
        });
        match built.await? {
            CompResult::Inserted(entry) | CompResult::ReplacedWith(entry) | CompResult::Unchanged(entry) => {
                Ok(entry.into_value())
            }
            CompResult::Removed(_) | CompResult::StillNone(_) => Err(Error::internal("a catalogue is never removed")),
        }
    }
}

/// Adds the bodies of a large library bit by bit, while its catalogue serves without them.
async fn add_bodies(ctx: Ctx, key: (TenantId, UserId)) {
    let mut failures = 0;
    loop {
        match ctx.app.catalogues.add_some_bodies(&ctx, key).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::warn!(%error, "the bodies of a large library were not read");
                failures += 1;
                if failures == TRIES {
                    // The next request for the catalogue reads it anew.
                    return ctx.app.catalogues.kept.invalidate(&key).await;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// The catalogue with what its skills learned by now, in memory wherever the vectors of the skills are: they are few.
async fn learn(ctx: &Ctx, catalogue: &UserCatalogue, wanted: Option<i64>) -> Result<UserCatalogue> {
    let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
    let learned = match (wanted, model) {
        // Revision 0 means that the user has no examples, so there is nothing to read.
        (Some(revision), Some(model)) if revision > 0 => {
            Some(examples::list_vectors(&ctx.app.db, &ctx.principal, model).await?)
        }
        (Some(_), _) => Some(LearnedVectors::default()),
        (None, _) => None,
    };
    Ok(catalogue.with_examples(learned))
}

/// The user's catalogue as of now.
pub(crate) async fn catalogue_now(ctx: &Ctx) -> Result<Arc<UserCatalogue>> {
    let revisions = skills::find_revisions(&ctx.app.db, &ctx.principal).await?;
    ctx.app.catalogues.get(ctx, revisions).await
}
