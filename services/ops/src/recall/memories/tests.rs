//! Tests that memories are added and removed with their words and vectors.

use std::sync::Arc;

use knowhow_domain::{MemoryId, MemoryKind, new_id};
use knowhow_store::sessions::memories::{Head, MemoriesStamp, ReadText};

use super::super::question::QuestionTerms;
use super::super::source::SearchTerms;
use super::SearchedMemories;
use super::refresh::MemoriesNow;

/// Limits of the bytes to read: in one step, and in the whole copy.
#[derive(Clone, Copy)]
struct Room {
    at_once: usize,
    altogether: usize,
}

const ENOUGH: Room = Room { at_once: 1 << 20, altogether: 1 << 20 };
const ONE_TEXT: Room = Room { at_once: 1, ..ENOUGH };
const NONE_LEFT: Room = Room { altogether: 0, ..ENOUGH };

/// Refreshes the copy from these memories, like the database would.
fn refresh(before: &SearchedMemories, there: &[(MemoryId, &str, Option<[f32; 2]>)], room: Room) -> SearchedMemories {
    refresh_at(1, before, there, room)
}

/// Refreshes the copy from memories that have this version.
fn refresh_at(
    version: i32,
    before: &SearchedMemories,
    there: &[(MemoryId, &str, Option<[f32; 2]>)],
    room: Room,
) -> SearchedMemories {
    let head = |(id, text, vector): &(MemoryId, &str, Option<[f32; 2]>)| Head {
        id: *id,
        version,
        kind: MemoryKind::Semantic,
        bytes: text.len() as i32,
        has_vector: vector.is_some(),
    };
    let heads: Vec<Head> = there.iter().map(head).collect();
    let (wanted, is_more) = before.list_wanted(&heads, room.at_once, room.altogether);
    let read = wanted.into_iter().map(|wanted| {
        let (_, text, vector) = there.iter().find(|(id, ..)| *id == wanted.id).unwrap();
        let content = wanted.text.then(|| (*text).to_owned());
        let embedding = vector.filter(|_| wanted.vector).map(|vector| vector.to_vec());
        (wanted.id, (wanted, Some(ReadText { id: wanted.id, content, embedding })))
    });
    let read = read.collect();
    before.update(MemoriesNow { stamp: MemoriesStamp::default(), heads: &heads, read: &read, is_complete: !is_more })
}

fn find(memories: &SearchedMemories, vector: Option<&[f32]>) -> Vec<(MemoryId, f32, Option<f32>)> {
    let words = Arc::new(QuestionTerms::of("zebra quetzal").unwrap());
    let found = memories.search(&SearchTerms { words, vector: vector.map(Arc::from), limit: 10 }, None);
    found.into_iter().map(|(id, fit)| (id, (fit.words * 10.0).round() / 10.0, fit.cosine)).collect()
}

#[test]
fn changed_memories_are_read_again_even_without_room() {
    let one = MemoryId(new_id());
    let first = refresh(&SearchedMemories::default(), &[(one, "A zebra and a quetzal.", Some([1.0, 0.0]))], ENOUGH);
    assert_eq!(find(&first, Some(&[1.0, 0.0])), [(one, 1.0, Some(1.0))]);
    for room in [ENOUGH, NONE_LEFT] {
        let changed = refresh_at(2, &first, &[(one, "Nothing.", Some([0.0, 1.0]))], room);
        assert_eq!(find(&changed, None), []);
        assert_eq!(find(&changed, Some(&[0.0, 1.0])), [(one, 0.0, Some(1.0))]);
    }
}

#[test]
fn words_and_vectors_are_added_and_removed_with_their_memories() {
    let [one, two, three] = [new_id(), new_id(), new_id()].map(MemoryId);
    let first = refresh(
        &SearchedMemories::default(),
        &[(one, "A zebra and a quetzal.", None), (two, "Nothing.", None)],
        ENOUGH,
    );
    assert_eq!(find(&first, None), [(one, 1.0, None)]);
    let near = [0.0, 1.0];
    // One memory is deleted, one is added, and one receives a vector.
    let now = [(two, "Nothing.", Some(near)), (three, "Zebras and a quetzal", None)];
    let second = refresh(&first, &now, ENOUGH);
    assert_eq!(find(&second, Some(&near)), [(three, 1.0, None), (two, 0.0, Some(1.0))]);
    // The vector of `two` is removed.
    let third = refresh(&second, &[(two, "Nothing.", None), now[1]], ENOUGH);
    assert_eq!(find(&third, Some(&near)), [(three, 1.0, None)]);
}

#[test]
fn the_newest_texts_are_read_first() {
    let [one, two] = [new_id(), new_id()].map(MemoryId);
    let there = [(one, "A zebra and a quetzal.", None), (two, "Quetzals and zebras.", None)];
    let first = refresh(&SearchedMemories::default(), &there, ONE_TEXT);
    assert!(!first.is_complete);
    assert_eq!(find(&first, None), [(two, 1.0, None)]);
    let second = refresh(&first, &there, ONE_TEXT);
    assert!(second.is_complete);
    assert_eq!(find(&second, None).len(), 2);
}

#[test]
fn new_memories_are_found_even_if_the_limit_is_reached() {
    let [one, two, three] = [new_id(), new_id(), new_id()].map(MemoryId);
    let mut there = vec![(one, "A zebra and a quetzal.", None), (two, "Quetzals and zebras.", None)];
    let first = refresh(&SearchedMemories::default(), &there, ONE_TEXT);
    there.push((three, "The quetzal saw a zebra.", None));
    let full = refresh(&first, &there, NONE_LEFT);
    assert!(full.is_complete);
    assert_eq!(find(&full, None).iter().map(|(id, ..)| *id).collect::<Vec<_>>(), [two, three]);
}
