//! Word counts of a group of skills. A catalogue has at most two segments: a large one with skills that changed long
//! ago, and a small one with recent changes. So the cost of a change depends on the size of the change, not on the size
//! of the catalogue.

use std::sync::Arc;

use super::count::{Counter, Lengths};
use super::phrases::Phrases;
use super::postings::{Count, GONE, Lists};
use super::skill_text::SkillText;

/// Word counts of some skills, which are numbered within the segment. A segment is immutable, so that several
/// catalogues can share it.
#[derive(Debug, Default)]
struct PostingsSegment {
    lists: Lists,
    lengths: Vec<Lengths>,
    phrases: Phrases,
}

/// A segment and the positions of its skills in a catalogue.
#[derive(Debug, Clone, Default)]
pub(super) struct CatalogueSegment {
    segment: Arc<PostingsSegment>,
    /// Catalogue position of each skill of the segment; [`GONE`] if the catalogue dropped it or has it in another part.
    places: Vec<u32>,
}

/// Maximum total size, in bytes, of two segments that are merged at each change: some twenty skills. A merge takes a
/// quarter of a millisecond. The limit is smaller in unit tests, so that their few skills make more than one part.
const SMALL: usize = if cfg!(test) { 256 } else { 20 * 1024 };
/// Divisor of the large segment's size. When the recent segment exceeds the quotient, the two are merged. So a change
/// causes at most `SHARE` times its own work later.
const SHARE: usize = 8;

impl CatalogueSegment {
    /// Counts the words in skills, each given with its position.
    pub(super) fn count(skills: &[(u32, SkillText<'_>)]) -> Self {
        let mut counter = Counter::default();
        for (_, skill) in skills {
            counter.add(skill);
        }
        let lists = write_lists(&counter);
        let Counter { lengths, mut phrases, .. } = counter;
        phrases.shrink();
        let segment = Arc::new(PostingsSegment { lists, lengths, phrases });
        Self { segment, places: skills.iter().map(|(place, _)| *place).collect() }
    }

    /// Returns the part with new positions of its skills. `moved` has the new position for each old one.
    pub(super) fn moved(&self, moved: &[u32]) -> Self {
        let places = self.places.iter().map(|place| moved.get(*place as usize).copied().unwrap_or(GONE));
        Self { segment: self.segment.clone(), places: places.collect() }
    }

    /// Returns the positions of the skills that contain a term, with their counts, in no particular order.
    pub(super) fn find(&self, term: u32) -> impl Iterator<Item = (usize, Count)> {
        let found = self.segment.lists.find(term).map(|(own, count)| (self.places.get(own).copied(), count));
        found.filter_map(|(place, count)| Some((place.filter(|place| *place != GONE)? as usize, count)))
    }

    /// Returns the catalogue position and the segment number of each skill that is still in the catalogue.
    pub(super) fn live(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.places.iter().enumerate().filter(|(_, place)| **place != GONE);
        all.map(|(own, place)| (*place as usize, own))
    }

    pub(super) fn lengths(&self, own: usize) -> Lengths {
        self.segment.lengths.get(own).copied().unwrap_or_default()
    }

    /// Counts how many of `phrases` the body of a skill repeats.
    pub(super) fn count_phrases(&self, own: usize, phrases: &[u32]) -> usize {
        self.segment.phrases.count(own, phrases)
    }

    /// Returns the memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        self.segment.weight() + self.places.capacity() * size_of::<u32>()
    }
}

impl PostingsSegment {
    fn weight(&self) -> usize {
        self.lists.weight() + self.phrases.weight() + self.lengths.capacity() * size_of::<Lengths>()
    }
}

/// Merges the parts into at most two: a large one, and a small one with recent changes.
pub(super) fn compact(mut parts: Vec<CatalogueSegment>) -> Vec<CatalogueSegment> {
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

/// Merges parts into one and drops removed skills.
fn merge(parts: &[CatalogueSegment]) -> CatalogueSegment {
    // Position, part and number of each skill. The merged segment numbers the skills in order of position.
    let each = parts.iter().enumerate().flat_map(|(at, part)| part.live().map(move |(place, own)| (place, at, own)));
    let mut skills: Vec<(usize, usize, usize)> = each.collect();
    skills.sort_unstable();
    let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![GONE; part.places.len()]).collect();
    let mut merged = PostingsSegment::default();
    for (number, (_, at, own)) in (0..).zip(&skills) {
        numbers[*at][*own] = number;
        merged.lengths.push(parts[*at].lengths(*own));
        merged.phrases.copy(&parts[*at].segment.phrases, *own);
    }
    merged.phrases.shrink();
    let lists: Vec<_> = parts.iter().zip(&numbers).map(|(part, new)| (&part.segment.lists, new.as_slice())).collect();
    merged.lists = Lists::merge(skills.len(), &lists);
    CatalogueSegment { segment: Arc::new(merged), places: skills.iter().map(|(place, ..)| *place as u32).collect() }
}

/// Writes the counted rows, sorted by term.
fn write_lists(counter: &Counter) -> Lists {
    let Counter { vocabulary, rows, lengths, .. } = counter;
    let terms = vocabulary.terms();
    let mut order: Vec<(u32, u32)> = rows.iter().zip(0..).map(|(row, at)| (terms[row.term as usize], at)).collect();
    order.sort_unstable();
    // If two terms of a skill have the same hash, the count of the first is used for both.
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
