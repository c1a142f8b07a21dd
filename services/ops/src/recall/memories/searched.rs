//! Defines the searchable copy of a user's memories.

use std::sync::Arc;

use knowhow_domain::recall::Catalogue;
use knowhow_domain::{MemoryId, MemoryKind, Result};
use knowhow_store::sessions::memories::{self, MemoriesStamp};

use super::super::source::{MatchFeatures, SearchTerms};
use crate::Ctx;

/// Returns the caller's current memories. If many are new, their texts are read later, in the background.
pub(super) async fn memories_now(ctx: &Ctx) -> Result<Arc<SearchedMemories>> {
    let stamp = memories::find_stamp(&ctx.app.db, &ctx.principal, ctx.app.models.embedding_model()).await?;
    if stamp == MemoriesStamp::default() {
        return Ok(Arc::default());
    }
    ctx.app.catalogues.memories.get(ctx, stamp).await
}

/// The words and vectors of one user's memories. The text and vector of one version of a memory never change.
#[derive(Default)]
pub(crate) struct SearchedMemories {
    pub(super) stamp: MemoriesStamp,
    /// The memories in ascending order of their ids.
    pub(super) memories: Vec<KnownMemory>,
    /// The index, with its entries in the order of `memories`.
    pub(super) index: Catalogue,
    /// Size of one vector in bytes; 0 until one has been read.
    pub(super) vector_size: usize,
    /// Whether all texts and vectors within the limit of size were read.
    pub(super) is_complete: bool,
}

/// A memory in the index.
pub(super) struct KnownMemory {
    pub(super) id: MemoryId,
    pub(super) version: i32,
    pub(super) kind: MemoryKind,
    /// Whether the memory's text was read.
    pub(super) text: bool,
    /// Whether the memory's vector was read.
    pub(super) vector: bool,
}

impl SearchedMemories {
    pub(super) fn len(&self) -> usize {
        self.memories.len()
    }

    /// Returns the best memories for a question, best first. If `kind` is given, only memories of that kind are
    /// returned.
    pub(super) fn search(&self, wanted: &SearchTerms, kind: Option<MemoryKind>) -> Vec<(MemoryId, MatchFeatures)> {
        let SearchTerms { words, vector, limit } = wanted;
        let words = self.index.weigh_terms(&words.terms, &words.weights);
        let cosines = vector.as_deref().map(|vector| self.index.cosines(vector)).unwrap_or_default();
        let mut found: Vec<(MemoryId, MatchFeatures)> = self
            .memories
            .iter()
            .zip(words)
            .enumerate()
            .filter(|(_, (memory, _))| kind.is_none_or(|kind| kind == memory.kind))
            .map(|(place, (memory, words))| {
                (memory.id, MatchFeatures { words, cosine: cosines.get(place).copied().flatten() })
            })
            .filter(|(_, fit)| fit.is_some())
            .collect();
        let best_first = |(a, of_a): &(MemoryId, MatchFeatures), (b, of_b): &(MemoryId, MatchFeatures)| {
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
