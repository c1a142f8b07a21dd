//! Memories as a source of recall: kept in this process, found by their words and their meaning.

mod refresh;
mod searched;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

use knowhow_domain::{Memory, MemoryId, MemoryKind, Result};
use knowhow_store::memories;

pub(super) use searched::SearchedMemories;

use super::source::{Asked, Fit, Found, Source};
use crate::Ctx;
use crate::dear::{self, Line};

/// A question to more memories is dear: one of a tenant is answered at a time.
const MANY: usize = 1000;
/// Questions to many memories at once: each takes some milliseconds of a processor, and of the database.
const AT_ONCE: usize = 2;

static LINE: LazyLock<Line> = LazyLock::new(|| Line::new("questions to many memories of this tenant", AT_ONCE));

/// The caller's memories.
pub(super) struct Memories {
    /// Of this kind alone.
    pub(super) kind: Option<MemoryKind>,
}

impl Source for Memories {
    type Item = Memory;

    async fn find(&self, ctx: &Ctx, asked: &Asked<'_>) -> Result<Vec<Found<Memory>>> {
        let kept = &ctx.app.catalogues.memories;
        let are_many = kept.find(ctx).await?.is_some_and(|kept| kept.len() > MANY);
        let turn = if are_many { Some(LINE.turn(&ctx.principal).await?) } else { None };
        let searched = searched::memories_now(ctx).await?;
        let (wanted, kind) = (asked.wanted.clone(), self.kind);
        let search = move || searched.search(&wanted, kind);
        let found = match turn {
            // Some milliseconds for thousands of memories: not on a thread that answers requests.
            Some(_turn) => dear::compute(move || Ok(search())).await?,
            None => search(),
        };
        read(ctx, found).await
    }
}

/// What was found, with the memories as they are in the database.
async fn read(ctx: &Ctx, found: Vec<(MemoryId, Fit)>) -> Result<Vec<Found<Memory>>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<MemoryId> = found.iter().map(|(id, _)| *id).collect();
    let read = memories::find_all(&ctx.app.db, &ctx.principal, &ids).await?;
    let mut read: HashMap<MemoryId, Memory> = read.into_iter().map(|memory| (memory.id, memory)).collect();
    let found = found.into_iter().filter_map(|(id, fit)| Some(fit.found(read.remove(&id)?)));
    Ok(found.collect())
}
