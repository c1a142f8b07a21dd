//! One user's memories in the form that is searched.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::MemoryKind;
use knowhow_domain::recall::{Catalogue, Listed, SkillText};
use knowhow_store::memories::{Head, ReadText, Stamp, WantedText};
use uuid::Uuid;

use super::question::Question;
use crate::recall::NEAR;

/// Which memories are looked for.
pub(super) struct Search {
    pub(super) question: Question,
    /// The question's, where there is one.
    pub(super) vector: Option<Arc<[f32]>>,
    /// Of this kind alone.
    pub(super) kind: Option<MemoryKind>,
    /// Most of them.
    pub(super) limit: usize,
}

/// The words and vectors of one user's memories. A memory never changes; it comes and goes, as does its vector.
#[derive(Default)]
pub(super) struct SearchedMemories {
    pub(super) stamp: Stamp,
    memories: Vec<Known>,
    /// In that order.
    index: Catalogue,
    /// Bytes of one vector.
    vector_size: usize,
    /// Whether nothing is to be read that there is room for.
    pub(super) is_complete: bool,
}

/// What is known of a memory.
struct Known {
    id: Uuid,
    kind: MemoryKind,
    /// Whether its text was read,
    text: bool,
    vector: bool,
}

/// A memory that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FoundMemory {
    pub(super) id: Uuid,
    /// Share of the question's words that it has, 0 to 1.
    pub(super) words: f32,
    /// The cosine of their vectors, where both have one.
    pub(super) cosine: Option<f32>,
}

impl FoundMemory {
    /// Half for the words in common, half for the meaning; without a vector words alone.
    pub(super) fn score(&self) -> f32 {
        self.cosine.map_or(self.words, |cosine| f32::midpoint(self.words, cosine.clamp(0.0, 1.0)))
    }

    fn fits(&self) -> bool {
        self.words > 0.0 || self.cosine.is_some_and(|cosine| cosine > NEAR)
    }
}

/// What a vector is taken for before one was read.
const LEAST_VECTOR: usize = 1024;

/// What was wanted of a memory, and what of it was there.
pub(super) type Wanted = (WantedText, Option<ReadText>);

impl SearchedMemories {
    pub(super) fn len(&self) -> usize {
        self.memories.len()
    }

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

    /// The memories that there are at `stamp`, ascending, with what was read of them.
    pub(super) fn update(&self, stamp: Stamp, heads: &[Head], read: &HashMap<Uuid, Wanted>, is_complete: bool) -> Self {
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

    /// The best memories for a question, best first; of one kind where that is asked for.
    pub(super) fn search(&self, wanted: &Search) -> Vec<FoundMemory> {
        let Search { question, vector, kind, limit } = wanted;
        let words = self.index.weigh_terms(&question.terms, &question.weights);
        let cosines = vector.as_deref().map(|vector| self.index.cosines(vector)).unwrap_or_default();
        let mut found: Vec<FoundMemory> = self
            .memories
            .iter()
            .zip(words)
            .enumerate()
            .filter(|(_, (memory, _))| kind.is_none_or(|kind| kind == memory.kind))
            .map(|(place, (memory, words))| FoundMemory {
                id: memory.id,
                words,
                cosine: cosines.get(place).copied().flatten(),
            })
            .filter(FoundMemory::fits)
            .collect();
        let best_first = |a: &FoundMemory, b: &FoundMemory| b.score().total_cmp(&a.score()).then(a.id.cmp(&b.id));
        if found.len() > *limit {
            found.select_nth_unstable_by(*limit, best_first);
            found.truncate(*limit);
        }
        found.sort_unstable_by(best_first);
        found
    }

    /// Bytes of memory held.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>() + self.memories.capacity() * size_of::<Known>() + self.index.weight()
    }

    fn place(&self, memory: Uuid) -> Option<usize> {
        self.memories.binary_search_by_key(&memory, |known| known.id).ok()
    }
}

#[cfg(test)]
mod tests {
    use knowhow_domain::new_id;

    use super::*;

    const TEXTS: usize = 1 << 20;

    /// Reads what is wanted of a few texts, as the database would.
    fn refresh(
        before: &SearchedMemories,
        there: &[(Uuid, &str, Option<[f32; 2]>)],
        (bytes, most): (usize, usize),
    ) -> SearchedMemories {
        let head = |(id, text, vector): &(Uuid, &str, Option<[f32; 2]>)| Head {
            id: *id,
            kind: MemoryKind::Semantic,
            bytes: text.len() as i32,
            has_vector: vector.is_some(),
        };
        let heads: Vec<Head> = there.iter().map(head).collect();
        let (wanted, is_more) = before.list_wanted(&heads, bytes, most);
        let read = wanted.into_iter().map(|wanted| {
            let (_, text, vector) = there.iter().find(|(id, ..)| *id == wanted.id).unwrap();
            let content = wanted.text.then(|| (*text).to_owned());
            let embedding = vector.filter(|_| wanted.vector).map(|vector| vector.to_vec());
            (wanted.id, (wanted, Some(ReadText { id: wanted.id, content, embedding })))
        });
        before.update(Stamp::default(), &heads, &read.collect(), !is_more)
    }

    fn find(memories: &SearchedMemories, vector: Option<&[f32]>) -> Vec<(Uuid, f32, Option<f32>)> {
        let question = Question::of("zebra quetzal").unwrap();
        let found = memories.search(&Search { question, vector: vector.map(Arc::from), kind: None, limit: 10 });
        found.into_iter().map(|found| (found.id, (found.words * 10.0).round() / 10.0, found.cosine)).collect()
    }

    #[test]
    fn words_and_vectors_come_and_go_with_their_memories() {
        let [one, two, three] = [new_id(), new_id(), new_id()];
        let first = refresh(
            &SearchedMemories::default(),
            &[(one, "A zebra and a quetzal.", None), (two, "Nothing.", None)],
            (TEXTS, TEXTS),
        );
        assert_eq!(find(&first, None), [(one, 1.0, None)]);
        let near = [0.0, 1.0];
        // One is gone, one is new, one has a vector now.
        let now = [(two, "Nothing.", Some(near)), (three, "Zebras and a quetzal", None)];
        let second = refresh(&first, &now, (TEXTS, TEXTS));
        assert_eq!(find(&second, Some(&near)), [(three, 1.0, None), (two, 0.0, Some(1.0))]);
        // The vector is gone again.
        let third = refresh(&second, &[(two, "Nothing.", None), now[1]], (TEXTS, TEXTS));
        assert_eq!(find(&third, Some(&near)), [(three, 1.0, None)]);
    }

    #[test]
    fn the_newest_texts_are_read_first() {
        let [one, two] = [new_id(), new_id()];
        let there = [(one, "A zebra and a quetzal.", None), (two, "Quetzals and zebras.", None)];
        let first = refresh(&SearchedMemories::default(), &there, (1, TEXTS));
        assert!(!first.is_complete);
        assert_eq!(find(&first, None), [(two, 1.0, None)]);
        let second = refresh(&first, &there, (1, TEXTS));
        assert!(second.is_complete);
        assert_eq!(find(&second, None).len(), 2);
    }

    #[test]
    fn where_there_is_no_room_for_more_what_is_new_is_found_nevertheless() {
        let [one, two, three] = [new_id(), new_id(), new_id()];
        let mut there = vec![(one, "A zebra and a quetzal.", None), (two, "Quetzals and zebras.", None)];
        let first = refresh(&SearchedMemories::default(), &there, (1, TEXTS));
        there.push((three, "The quetzal saw a zebra.", None));
        let full = refresh(&first, &there, (TEXTS, 0));
        assert!(full.is_complete);
        assert_eq!(find(&full, None).iter().map(|(id, ..)| *id).collect::<Vec<_>>(), [two, three]);
    }
}
