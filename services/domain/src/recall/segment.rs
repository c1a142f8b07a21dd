//! The counted words of some skills. A catalogue has few segments: a large one of the skills that have long been there, and
//! a small one of those that changed since. So a change costs what changed, and not all texts again.

use std::sync::Arc;

use super::catalogue::SkillText;
use super::count::{Counter, Lengths};
use super::phrases::Phrases;
use super::postings::{Count, GONE, Lists};

/// The words of some skills, each known by its number here. It never changes, and several catalogues may share it.
#[derive(Debug, Default)]
struct Segment {
    lists: Lists,
    lengths: Vec<Lengths>,
    phrases: Phrases,
}

/// A segment with the places that its skills have in a catalogue.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    segment: Arc<Segment>,
    /// Of each skill of the segment; [`GONE`] where the catalogue does not have it any more, or has it elsewhere.
    places: Vec<u32>,
}

/// Up to so many bytes all is merged with each change, in a quarter of a millisecond: some twenty skills. Less in unit tests,
/// so that their few skills make more than one part.
const SMALL: usize = if cfg!(test) { 256 } else { 20 * 1024 };
/// What changed is merged with all others when it has grown to this share of them, so that the work that a change causes
/// later is at most so many times its own.
const SHARE: usize = 8;

impl Part {
    /// Counts the words of skills, given with their places.
    pub(super) fn count(skills: &[(u32, SkillText<'_>)]) -> Self {
        let mut counter = Counter::default();
        for (_, skill) in skills {
            counter.add(skill);
        }
        let lists = write_lists(&counter);
        let Counter { lengths, mut phrases, .. } = counter;
        phrases.shrink();
        let segment = Arc::new(Segment { lists, lengths, phrases });
        Self { segment, places: skills.iter().map(|(place, _)| *place).collect() }
    }

    /// The same after the places have changed, from the index to the number found there.
    pub(super) fn moved(&self, moved: &[u32]) -> Self {
        let places = self.places.iter().map(|place| moved.get(*place as usize).copied().unwrap_or(GONE));
        Self { segment: self.segment.clone(), places: places.collect() }
    }

    /// The skills that hold a term, by their places, in no order.
    pub(super) fn find(&self, term: u32) -> impl Iterator<Item = (usize, Count)> {
        let found = self.segment.lists.find(term).map(|(own, count)| (self.places.get(own).copied(), count));
        found.filter_map(|(place, count)| Some((place.filter(|place| *place != GONE)? as usize, count)))
    }

    /// The places of its skills, each with its number here.
    pub(super) fn live(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.places.iter().enumerate().filter(|(_, place)| **place != GONE);
        all.map(|(own, place)| (*place as usize, own))
    }

    pub(super) fn lengths(&self, own: usize) -> Lengths {
        self.segment.lengths.get(own).copied().unwrap_or_default()
    }

    /// How many of the phrases the body of a skill repeats.
    pub(super) fn count_phrases(&self, own: usize, phrases: &[u32]) -> usize {
        self.segment.phrases.count(own, phrases)
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.segment.weight() + self.places.capacity() * size_of::<u32>()
    }
}

impl Segment {
    fn weight(&self) -> usize {
        self.lists.weight() + self.phrases.weight() + self.lengths.capacity() * size_of::<Lengths>()
    }
}

/// Leaves at most two parts: one of nearly all, and one of what changed lately.
pub(super) fn compact(mut parts: Vec<Part>) -> Vec<Part> {
    parts.retain(|part| part.live().next().is_some());
    let Some((most, rest)) = parts.split_first() else { return parts };
    let recent: usize = rest.iter().map(|part| part.segment.weight()).sum();
    let is_mostly_gone = most.live().count() * 2 < most.places.len();
    if is_mostly_gone
        || (recent > 0 && (most.segment.weight() + recent <= SMALL || recent > most.segment.weight() / SHARE))
    {
        return vec![merge(&parts)];
    }
    if rest.len() > 1 {
        let recent = merge(rest);
        parts.truncate(1);
        parts.push(recent);
    }
    parts
}

/// The parts as one, without what is gone.
fn merge(parts: &[Part]) -> Part {
    // Each skill by its place, its part and its number there: their order is the new one.
    let each = parts.iter().enumerate().flat_map(|(at, part)| part.live().map(move |(place, own)| (place, at, own)));
    let mut skills: Vec<(usize, usize, usize)> = each.collect();
    skills.sort_unstable();
    let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![GONE; part.places.len()]).collect();
    let mut merged = Segment::default();
    for (number, (_, at, own)) in (0..).zip(&skills) {
        numbers[*at][*own] = number;
        merged.lengths.push(parts[*at].lengths(*own));
        merged.phrases.copy(&parts[*at].segment.phrases, *own);
    }
    merged.phrases.shrink();
    let lists: Vec<_> = parts.iter().zip(&numbers).map(|(part, new)| (&part.segment.lists, new.as_slice())).collect();
    merged.lists = Lists::merge(skills.len(), &lists);
    Part { segment: Arc::new(merged), places: skills.iter().map(|(place, ..)| *place as u32).collect() }
}

/// Sorts what was counted by term.
fn write_lists(counter: &Counter) -> Lists {
    let Counter { vocabulary, rows, lengths, .. } = counter;
    let terms = vocabulary.terms();
    let mut order: Vec<(u32, u32)> = rows.iter().zip(0..).map(|(row, at)| (terms[row.term as usize], at)).collect();
    order.sort_unstable();
    // Two terms of one hash in one skill: the first stands for both.
    order.dedup_by_key(|(term, at)| (*term, rows[*at as usize].skill));
    Lists::write(
        lengths.len(),
        terms.len(),
        order.chunk_by(|a, b| a.0 == b.0).map(|run| {
            let entries = run.iter().map(|(_, at)| &rows[*at as usize]).map(|row| (row.skill, row.count));
            (run[0].0, entries)
        }),
    )
}
