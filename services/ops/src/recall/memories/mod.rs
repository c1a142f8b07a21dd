//! Memories as a source of recall. They are cached in this process, and found by words and meaning.

mod refresh;
mod searched;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use knowhow_domain::{Memory, MemoryId, MemoryKind, Result};
use knowhow_store::sessions::memories;

pub(super) use searched::SearchedMemories;

use super::source::{MatchFeatures, RecallSource, SourceHit, SourceQuery};
use crate::Ctx;
use crate::platform::admission;

/// Number of memories above which a question is expensive. Each tenant runs one such question at a time.
const MANY_MEMORIES: usize = 1000;

/// Finds the caller's memories.
pub(super) struct Memories {
    /// Kind of memories to find; `None` for all kinds.
    pub(super) kind: Option<MemoryKind>,
}

impl RecallSource for Memories {
    type Item = Memory;

    async fn find(&self, ctx: &Ctx, asked: &SourceQuery<'_>) -> Result<Vec<SourceHit<Memory>>> {
        let copies = &ctx.app.catalogues.memories;
        let are_many = copies.find(ctx).await?.is_some_and(|copies| copies.len() > MANY_MEMORIES);
        let turn = if are_many { Some(ctx.app.admission.memory_searches.turn(&ctx.principal).await?) } else { None };
        let searched = searched::memories_now(ctx).await?;
        let (wanted, kind) = (asked.wanted.clone(), self.kind);
        let search = move || searched.search(&wanted, kind);
        let found = match turn {
            // A search of thousands of memories takes some milliseconds, so it runs on a blocking thread.
            Some(_turn) => admission::compute(move || Ok(search())).await?,
            None => search(),
        };
        read(ctx, found).await
    }
}

/// Reads the found memories from the database, in the same order.
async fn read(ctx: &Ctx, found: Vec<(MemoryId, MatchFeatures)>) -> Result<Vec<SourceHit<Memory>>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<MemoryId> = found.iter().map(|(id, _)| *id).collect();
    let read = memories::find_all(&ctx.app.db, &ctx.principal, &ids).await?;
    let mut read: HashMap<MemoryId, Memory> = read.into_iter().map(|memory| (memory.id, memory)).collect();
    let found = found.into_iter().filter_map(|(id, fit)| Some(fit.found(read.remove(&id)?)));
    Ok(found.collect())
}
