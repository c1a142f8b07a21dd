//! Users' memories, kept in this process: a question reads no texts and no vectors, it only asks whether these are fresh.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::Principal;
use knowhow_store::memories::{self, ReadText, Stamp};
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};

use super::searched::SearchedMemories;
use crate::{App, Ctx, compute};

/// What is not asked for that long is let go.
const IDLE: Duration = Duration::from_secs(3600);
/// At most so many bytes of texts and vectors are read at once, some 100 ms of the processor. Of more, a recall goes by what
/// is known, the newest, while the others are read.
const TEXTS: usize = 2 * 1024 * 1024;
/// So much is counted at once, no matter who else counts.
const QUICK: usize = 256 * 1024;
/// A question to more memories is dear: one of a tenant is answered at a time.
const MANY: usize = 1000;

type Owner = (TenantId, UserId);

/// What a refresh is for.
#[derive(Clone, Copy)]
enum Need {
    /// The memories at this stamp.
    At(Stamp),
    /// All that there is room for.
    All,
}

impl Need {
    fn is_met_by(self, kept: &SearchedMemories) -> bool {
        match self {
            Self::At(stamp) => kept.stamp == stamp,
            Self::All => kept.is_complete,
        }
    }
}

/// The memories of users, within a weight.
pub(crate) struct KeptMemories {
    kept: Cache<Owner, Arc<SearchedMemories>>,
    /// What the memories of one user may take, about: of more, the oldest are not found.
    most: usize,
    /// Whose many texts are being read.
    reading: Mutex<HashSet<Owner>>,
}

impl KeptMemories {
    /// None yet, and at most so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &Owner, memories: &Arc<SearchedMemories>| u32::try_from(memories.weight()).unwrap_or(u32::MAX);
        let kept = Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE).build();
        Self { kept, most: usize::try_from(bytes / 2).unwrap_or(usize::MAX), reading: Mutex::default() }
    }

    /// Whether the caller is known to have so many memories that a question to them is dear.
    pub(super) async fn are_many(&self, principal: &Principal) -> Result<bool> {
        let kept = self.kept.get(&(principal.tenant(), principal.user()?)).await;
        Ok(kept.is_some_and(|kept| kept.len() > MANY))
    }

    /// The caller's memories as of now. Of many that are new the texts follow, read in the background.
    pub(super) async fn get(&self, ctx: &Ctx) -> Result<Arc<SearchedMemories>> {
        let owner = (ctx.principal.tenant(), ctx.principal.user()?);
        let stamp = memories::find_stamp(&ctx.app.db, &ctx.principal, model_of(&ctx.app)).await?;
        if stamp == Stamp::default() {
            return Ok(Arc::default());
        }
        let kept = self.kept.get(&owner).await.unwrap_or_default();
        let kept = if kept.stamp == stamp { kept } else { self.refresh(ctx, owner, &kept, Need::At(stamp)).await? };
        if !kept.is_complete && self.lock_reading().insert(owner) {
            let (ctx, kept) = (ctx.clone(), kept.clone());
            tokio::spawn(async move {
                let memories = &ctx.app.catalogues.memories;
                if let Err(error) = memories.read_all(&ctx, owner, kept).await {
                    tracing::warn!(%error, "the texts of many memories were not read; the next recall tries again");
                }
                memories.lock_reading().remove(&owner);
            });
        }
        Ok(kept)
    }

    async fn read_all(&self, ctx: &Ctx, owner: Owner, mut kept: Arc<SearchedMemories>) -> Result<()> {
        while !kept.is_complete {
            kept = self.refresh(ctx, owner, &kept, Need::All).await?;
        }
        Ok(())
    }

    /// Brings what is kept up to date, with some of the texts that are missing, unless another has just done so. What the
    /// cache had no room for goes on from `known`.
    async fn refresh(
        &self,
        ctx: &Ctx,
        owner: Owner,
        known: &Arc<SearchedMemories>,
        need: Need,
    ) -> Result<Arc<SearchedMemories>> {
        let model = model_of(&ctx.app);
        let built = self.kept.entry(owner).and_try_compute_with(async |kept| {
            let before = match kept {
                Some(kept) if need.is_met_by(kept.value()) => return Ok(Op::Nop),
                Some(kept) => kept.into_value(),
                None => known.clone(),
            };
            let (stamp, heads) = memories::list_heads(&ctx.app.db, &ctx.principal, model).await?;
            let (wanted, is_more) = before.list_wanted(&heads, TEXTS, self.most);
            let read = match wanted.as_slice() {
                [] => Vec::new(),
                wanted => memories::read_texts(&ctx.app.db, &ctx.principal, wanted, model).await?,
            };
            let bytes: usize = read.iter().map(ReadText::size).sum();
            // Who added a memory or two does not wait for who has thousands counted.
            let _turn = if bytes > QUICK { Some(ctx.app.catalogues.take_turn().await?) } else { None };
            let mut texts: HashMap<_, _> = wanted.into_iter().map(|wanted| (wanted.id, (wanted, None))).collect();
            for read in read {
                texts.entry(read.id).and_modify(|(_, found)| *found = Some(read));
            }
            let memories = compute(move || Ok(before.update(stamp, &heads, &texts, !is_more))).await?;
            Ok::<_, Error>(Op::Put(Arc::new(memories)))
        });
        match built.await? {
            CompResult::Inserted(entry) | CompResult::ReplacedWith(entry) | CompResult::Unchanged(entry) => {
                Ok(entry.into_value())
            }
            CompResult::Removed(_) | CompResult::StillNone(_) => Ok(Arc::default()),
        }
    }

    fn lock_reading(&self) -> MutexGuard<'_, HashSet<Owner>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn model_of(app: &App) -> Option<&str> {
    app.models.embedder.as_deref().map(|embedder| embedder.model())
}
