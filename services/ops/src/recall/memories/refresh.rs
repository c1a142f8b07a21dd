//! Refreshes a user's cached memories. New memories are read first.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::recall::{ListedSkill, SkillText};
use knowhow_domain::{MemoryId, Result};
use knowhow_store::sessions::memories::{self, Head, MemoriesStamp, ReadText, WantedText};

use super::searched::{KnownMemory, SearchedMemories};
use crate::recall::user_cache::{SearchCopy, UserCopies};
use crate::{App, Ctx};

/// Maximum number of bytes of texts and vectors that are read in one step, about 100 ms of processor time. If there are
/// more, recall uses the newest memories until the others are read.
const TEXTS: usize = 2 * 1024 * 1024;
/// Assumed bytes of a vector until one has been read.
const LEAST_VECTOR: usize = 1024;

/// A request to read a memory's text and vector, with the result; `None` if the memory was deleted.
pub(super) type RequestedText = (WantedText, Option<ReadText>);

/// The current list of a user's memories, with the texts and vectors that were read.
pub(super) struct MemoriesNow<'a> {
    /// The stamp of this list.
    pub(super) stamp: MemoriesStamp,
    /// All memories, in ascending order of their ids.
    pub(super) heads: &'a [Head],
    /// The texts and vectors that were read.
    pub(super) read: &'a HashMap<MemoryId, RequestedText>,
    /// Whether no texts or vectors remain to be read.
    pub(super) is_complete: bool,
}

impl SearchCopy for SearchedMemories {
    type State = MemoriesStamp;

    fn copies(app: &App) -> &UserCopies<Self> {
        &app.catalogues.memories
    }

    fn is_at(&self, state: MemoriesStamp) -> bool {
        self.stamp == state
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn weight(&self) -> usize {
        size_of::<Self>() + self.memories.capacity() * size_of::<KnownMemory>() + self.index.weight()
    }

    async fn refresh(self: Arc<Self>, ctx: &Ctx, _: Option<MemoriesStamp>) -> Result<Self> {
        let (model, most) = (ctx.app.models.embedding_model(), ctx.app.catalogues.most_of_memories);
        let (stamp, heads) = memories::list_heads(&ctx.app.db, &ctx.principal, model).await?;
        let (wanted, is_more) = self.list_wanted(&heads, TEXTS, most);
        let read = match wanted.as_slice() {
            [] => Vec::new(),
            wanted => memories::read_texts(&ctx.app.db, &ctx.principal, wanted, model).await?,
        };
        let bytes: usize = read.iter().map(ReadText::size).sum();
        let mut texts: HashMap<_, _> = wanted.into_iter().map(|wanted| (wanted.id, (wanted, None))).collect();
        for read in read {
            texts.entry(read.id).and_modify(|(_, found)| *found = Some(read));
        }
        ctx.app
            .catalogues
            .line(bytes)
            .build(move || self.update(MemoriesNow { stamp, heads: &heads, read: &texts, is_complete: !is_more }))
            .await
    }
}

impl SearchedMemories {
    /// Returns the position and the entry of a memory in the index; `None` if it is missing or of another version.
    fn known(&self, head: &Head) -> Option<(usize, &KnownMemory)> {
        let place = self.place(head.id)?;
        self.memories.get(place).filter(|known| known.version == head.version).map(|known| (place, known))
    }

    /// Lists the texts and vectors to read, newest first, up to about `bytes`. The flag is true if more are missing.
    ///
    /// The copy takes at most about `most` bytes, half of them for vectors. Beyond that limit only memories that were
    /// changed, or are newer than all cached ones, are read.
    pub(super) fn list_wanted(&self, heads: &[Head], bytes: usize, most: usize) -> (Vec<WantedText>, bool) {
        let newest = self.memories.last().map(|memory| memory.id);
        let vectors = self.memories.iter().filter(|memory| memory.vector).count() * self.vector_size;
        let (has_room, has_room_for_vectors) = (self.weight() < most, vectors < most / 2);
        let (mut room, mut is_more) = (bytes, false);
        let mut wanted = Vec::new();
        for head in heads.iter().rev() {
            let known = self.known(head).map(|(_, known)| known);
            let is_changed = known.is_none() && self.place(head.id).is_some();
            let is_new = is_changed || newest.is_some_and(|newest| head.id > newest);
            let text = !known.is_some_and(|known| known.text) && (has_room || is_new);
            let vector = head.has_vector
                && !known.is_some_and(|known| known.vector)
                && (has_room && has_room_for_vectors || is_new);
            if !text && !vector {
                continue;
            }
            if room == 0 {
                is_more = true;
                break;
            }
            let bytes = if text { usize::try_from(head.bytes).unwrap_or_default() } else { 0 };
            room = room.saturating_sub(bytes + if vector { self.vector_size.max(LEAST_VECTOR) } else { 0 });
            wanted.push(WantedText { id: head.id, text, vector });
        }
        (wanted, is_more)
    }

    /// Returns the copy with these changes.
    pub(super) fn update(&self, now: MemoriesNow<'_>) -> Self {
        let MemoriesNow { stamp, heads, read, is_complete } = now;
        let mut memories = Vec::with_capacity(heads.len());
        let mut listed = Vec::with_capacity(heads.len());
        for head in heads {
            let (before, known) = self.known(head).unzip();
            let (wanted, found) =
                read.get(&head.id).map_or((None, None), |(wanted, found)| (Some(wanted), found.as_ref()));
            let reads_text = wanted.is_some_and(|wanted| wanted.text);
            let reads_vector = wanted.is_some_and(|wanted| wanted.vector);
            memories.push(KnownMemory {
                id: head.id,
                version: head.version,
                kind: head.kind,
                text: reads_text || known.is_some_and(|known| known.text),
                vector: head.has_vector && (reads_vector || known.is_some_and(|known| known.vector)),
            });
            // If the memory was deleted while texts were read, its text is empty.
            let body = found.and_then(|found| found.content.as_deref()).unwrap_or_default();
            let embedding = found.and_then(|found| found.embedding.as_deref());
            listed.push(ListedSkill {
                before,
                text: reads_text.then(|| SkillText { body, ..SkillText::default() }),
                embedding: (reads_vector || !head.has_vector).then_some(embedding),
                ..ListedSkill::default()
            });
        }
        let read_size = listed.iter().find_map(|memory| memory.embedding.flatten()).map(|vector| vector.len() * 2);
        let vector_size = read_size.unwrap_or(self.vector_size);
        Self { stamp, memories, index: self.index.update(&listed), vector_size, is_complete }
    }
}
