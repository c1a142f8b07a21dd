//! Brings a user's memories up to date: reads what is new, of many the newest first.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::recall::{Listed, SkillText};
use knowhow_domain::{MemoryId, Result};
use knowhow_store::memories::{self, Head, ReadText, Stamp, WantedText};

use super::super::kept::{Kept, Searched};
use super::searched::{Known, SearchedMemories};
use crate::{App, Ctx};

/// At most so many bytes of texts and vectors are read at once, some 100 ms of the processor. Of more, a recall goes by what
/// is known, the newest, while the others are read.
const TEXTS: usize = 2 * 1024 * 1024;
/// What a vector is taken for before one was read.
const LEAST_VECTOR: usize = 1024;

/// What was wanted of a memory, and what of it was there.
pub(super) type Wanted = (WantedText, Option<ReadText>);

/// A user's memories as they are now.
pub(super) struct MemoriesNow<'a> {
    /// What they are at.
    pub(super) stamp: Stamp,
    /// All that there are, ascending.
    pub(super) heads: &'a [Head],
    /// What was read of them.
    pub(super) read: &'a HashMap<MemoryId, Wanted>,
    /// Whether that is all that was wanted.
    pub(super) is_complete: bool,
}

impl Searched for SearchedMemories {
    type State = Stamp;

    fn kept(app: &App) -> &Kept<Self> {
        &app.catalogues.memories
    }

    fn is_at(&self, state: Stamp) -> bool {
        self.stamp == state
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn weight(&self) -> usize {
        size_of::<Self>() + self.memories.capacity() * size_of::<Known>() + self.index.weight()
    }

    async fn refresh(self: Arc<Self>, ctx: &Ctx, _: Option<Stamp>) -> Result<Self> {
        let (model, most) = (model_of(&ctx.app), ctx.app.catalogues.most_of_memories);
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

pub(super) fn model_of(app: &App) -> Option<&str> {
    app.models.embedder.as_deref().map(|embedder| embedder.model())
}

impl SearchedMemories {
    /// What is to be read of the memories that there are, the newest first: some `bytes` of the vectors and texts that are
    /// missing, and whether more are. All together take up about `most` bytes, half of that the vectors; of more memories the
    /// newest are looked at, and whatever is new.
    pub(super) fn list_wanted(&self, heads: &[Head], bytes: usize, most: usize) -> (Vec<WantedText>, bool) {
        let newest = self.memories.last().map(|memory| memory.id);
        let vectors = self.memories.iter().filter(|memory| memory.vector).count() * self.vector_size;
        let (has_room, has_room_for_vectors) = (self.weight() < most, vectors < most / 2);
        let (mut room, mut is_more) = (bytes, false);
        let mut wanted = Vec::new();
        for head in heads.iter().rev() {
            let known = self.place(head.id).and_then(|place| self.memories.get(place));
            let is_new = newest.is_some_and(|newest| head.id > newest);
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

    /// The memories that there are now.
    pub(super) fn update(&self, now: MemoriesNow<'_>) -> Self {
        let MemoriesNow { stamp, heads, read, is_complete } = now;
        let mut memories = Vec::with_capacity(heads.len());
        let mut listed = Vec::with_capacity(heads.len());
        for head in heads {
            let before = self.place(head.id);
            let known = before.and_then(|place| self.memories.get(place));
            let (wanted, found) =
                read.get(&head.id).map_or((None, None), |(wanted, found)| (Some(wanted), found.as_ref()));
            let reads_text = wanted.is_some_and(|wanted| wanted.text);
            let reads_vector = wanted.is_some_and(|wanted| wanted.vector);
            memories.push(Known {
                id: head.id,
                kind: known.map_or_else(|| head.kind, |known| known.kind),
                text: reads_text || known.is_some_and(|known| known.text),
                vector: head.has_vector && (reads_vector || known.is_some_and(|known| known.vector)),
            });
            // One that went meanwhile has no words.
            let body = found.and_then(|found| found.content.as_deref()).unwrap_or_default();
            let embedding = found.and_then(|found| found.embedding.as_deref());
            listed.push(Listed {
                before,
                text: reads_text.then(|| SkillText { body, ..SkillText::default() }),
                embedding: (reads_vector || !head.has_vector).then_some(embedding),
                ..Listed::default()
            });
        }
        let read_size = listed.iter().find_map(|memory| memory.embedding.flatten()).map(|vector| vector.len() * 2);
        let vector_size = read_size.unwrap_or(self.vector_size);
        Self { stamp, memories, index: self.index.update(&listed), vector_size, is_complete }
    }
}
