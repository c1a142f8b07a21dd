//! One user's memories in the form that is searched.

use std::sync::Arc;

use knowhow_domain::recall::Catalogue;
use knowhow_domain::{MemoryId, MemoryKind, Result};
use knowhow_store::memories::{self, Stamp};

use super::super::source::{Fit, Wanted};
use super::refresh::model_of;
use crate::Ctx;

/// The caller's memories as of now. Of many that are new the texts follow, read in the background.
pub(super) async fn memories_now(ctx: &Ctx) -> Result<Arc<SearchedMemories>> {
    let stamp = memories::find_stamp(&ctx.app.db, &ctx.principal, model_of(&ctx.app)).await?;
    if stamp == Stamp::default() {
        return Ok(Arc::default());
    }
    ctx.app.catalogues.memories.get(ctx, stamp).await
}

/// The words and vectors of one user's memories. A memory never changes; it comes and goes, as does its vector.
#[derive(Default)]
pub(crate) struct SearchedMemories {
    pub(super) stamp: Stamp,
    /// Ascending.
    pub(super) memories: Vec<Known>,
    /// In that order.
    pub(super) index: Catalogue,
    /// Bytes of one vector.
    pub(super) vector_size: usize,
    /// Whether nothing is to be read that there is room for.
    pub(super) is_complete: bool,
}

/// What is known of a memory.
pub(super) struct Known {
    pub(super) id: MemoryId,
    pub(super) kind: MemoryKind,
    /// Whether its text was read,
    pub(super) text: bool,
    /// and its vector.
    pub(super) vector: bool,
}

impl SearchedMemories {
    pub(super) fn len(&self) -> usize {
        self.memories.len()
    }

    /// The best memories for a question, best first; of one kind where that is asked for.
    pub(super) fn search(&self, wanted: &Wanted, kind: Option<MemoryKind>) -> Vec<(MemoryId, Fit)> {
        let Wanted { words, vector, limit } = wanted;
        let words = self.index.weigh_terms(&words.terms, &words.weights);
        let cosines = vector.as_deref().map(|vector| self.index.cosines(vector)).unwrap_or_default();
        let mut found: Vec<(MemoryId, Fit)> = self
            .memories
            .iter()
            .zip(words)
            .enumerate()
            .filter(|(_, (memory, _))| kind.is_none_or(|kind| kind == memory.kind))
            .map(|(place, (memory, words))| (memory.id, Fit { words, cosine: cosines.get(place).copied().flatten() }))
            .filter(|(_, fit)| fit.is_some())
            .collect();
        let best_first = |(a, of_a): &(MemoryId, Fit), (b, of_b): &(MemoryId, Fit)| {
            of_b.score().total_cmp(&of_a.score()).then(a.cmp(b))
        };
        if found.len() > *limit {
            found.select_nth_unstable_by(*limit, best_first);
            found.truncate(*limit);
        }
        found.sort_unstable_by(best_first);
        found
    }

    pub(super) fn place(&self, memory: MemoryId) -> Option<usize> {
        self.memories.binary_search_by_key(&memory, |known| known.id).ok()
    }
}
