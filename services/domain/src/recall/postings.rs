//! Inverted index: the skills that contain each term, with counts. It takes about three bytes per term and one per
//! entry.
//!
//! Terms are sorted and grouped in blocks of [`BLOCK`]. Each block starts at a byte boundary. Each term has:
//! - the distance to the previous term,
//! - the number of its skills,
//! - the size of its list in bits (only from [`LONG`] skills on),
//! - its list.
//!
//! A list has one entry per skill, in skill order:
//! - the number of skills skipped since the last entry,
//! - a bit that is 1 if the term is in the text, and in this case the count in the text,
//! - the count in the body (plus one if the term is in the text).
//!
//! All numbers have variable-length codes, as is usual in search engines (Witten, Moffat and Bell 1999, "Managing
//! Gigabytes", chapter 3). Compression matters because the memory per user limits the number of users in the cache.

use super::bits::{BitReader, BitWriter};

/// Frequency of a term in each field of a skill. At least one count is above 0. Counts are capped at 255, because BM25
/// saturates long before that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Count in name, description and triggers.
    pub(super) text: u8,
    pub(super) body: u8,
}

const BLOCK: usize = 16;
/// Minimum number of entries in a list that stores its size. Searches for other terms can skip such a list.
const LONG: u32 = 8;
/// Marker in place of a new number for a skill that a merge leaves out.
pub(super) const GONE: u32 = u32::MAX;

/// The compressed lists of all terms.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// First term and start byte of each block.
    blocks: Vec<(u32, u32)>,
    bits: Vec<u8>,
    terms: usize,
    widths: RiceWidths,
}

/// Numbers of low bits in the Rice codes for distances. Numbers of about 2^low take the fewest bits.
#[derive(Debug, Clone, Copy, Default)]
struct RiceWidths {
    skills: u32,
    /// Number of low bits for the distance between terms.
    term_bits: u32,
}

impl RiceWidths {
    fn of(skills: usize, terms: usize) -> Self {
        let terms = u32::try_from(terms).unwrap_or(u32::MAX);
        let term_bits = (u32::MAX / terms.max(1)).ilog2();
        Self { skills: u32::try_from(skills).unwrap_or(u32::MAX), term_bits }
    }

    /// Returns the number of low bits for the distance between skills, for a term that `holders` skills contain.
    fn skill_bits(self, holders: u32) -> u32 {
        (self.skills / holders.max(1)).max(1).ilog2()
    }
}

impl Lists {
    /// Writes the lists of terms. Terms are in ascending order, and so are the skills of a list. Each list has at
    /// least one skill. `skills` and `terms` are the estimated numbers of skills and terms.
    pub(super) fn write<L>(skills: usize, terms: usize, lists: impl Iterator<Item = (u32, L)>) -> Self
    where
        L: Iterator<Item = (u32, Count)>,
    {
        let mut writer = Writer::new(RiceWidths::of(skills, terms));
        let mut entries = Vec::new();
        for (term, list) in lists {
            entries.clear();
            entries.extend(list);
            writer.add(term, &entries);
        }
        writer.finish()
    }

    /// Merges several lists into one with `skills` skills. Each part comes with the new numbers for its skills;
    /// [`GONE`] leaves a skill out.
    pub(super) fn merge(skills: usize, parts: &[(&Self, &[u32])]) -> Self {
        // Most terms of the smaller parts also occur in the largest one.
        let terms = parts.iter().map(|(lists, _)| lists.terms).max().unwrap_or_default();
        let mut writer = Writer::new(RiceWidths::of(skills, terms));
        let mut readers: Vec<_> = parts.iter().map(|(lists, numbers)| (lists.walk_from(0), *numbers)).collect();
        let mut entries = Vec::new();
        while let Some(term) = readers.iter().filter_map(|(walk, _)| walk.term).min() {
            entries.clear();
            for (walk, numbers) in readers.iter_mut().filter(|(walk, _)| walk.term == Some(term)) {
                let list = walk.list.by_ref();
                let renumbered = list.map(|(skill, count)| (numbers.get(skill).copied().unwrap_or(GONE), count));
                entries.extend(renumbered.filter(|(skill, _)| *skill != GONE));
                walk.advance();
            }
            entries.sort_unstable_by_key(|(skill, _)| *skill);
            if !entries.is_empty() {
                writer.add(term, &entries);
            }
        }
        writer.finish()
    }

    /// Returns the skills that contain a term, in order; empty for an unknown term.
    pub(super) fn find(&self, term: u32) -> PostingsReader<'_> {
        let block = self.blocks.partition_point(|(first, _)| *first <= term).checked_sub(1);
        let mut walk = block.map(|block| self.walk_from(block)).unwrap_or_default();
        while walk.term.is_some_and(|here| here < term) {
            walk.skip_list();
            walk.advance();
        }
        if walk.term == Some(term) { walk.list } else { PostingsReader::default() }
    }

    /// Returns the memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        self.blocks.capacity() * size_of::<(u32, u32)>() + self.bits.capacity()
    }

    /// Starts an iteration at a block.
    fn walk_from(&self, block: usize) -> ListsIterator<'_> {
        let mut walk = ListsIterator { next: block * BLOCK, lists: Some(self), ..ListsIterator::default() };
        walk.advance();
        walk
    }
}

/// An iterator over the lists in the order of their terms.
#[derive(Default)]
struct ListsIterator<'a> {
    lists: Option<&'a Lists>,
    /// Index of the next term.
    next: usize,
    /// The current term; `None` after the last one.
    term: Option<u32>,
    /// The list of the current term.
    list: PostingsReader<'a>,
    /// The size in bits of the current list, if it stores one.
    length: Option<usize>,
}

impl<'a> ListsIterator<'a> {
    /// Moves to the next term. The current list must have been read.
    fn advance(&mut self) {
        let Some(lists) = self.lists.filter(|lists| self.next < lists.terms) else {
            self.term = None;
            return;
        };
        let mut before = self.term.unwrap_or_default();
        if self.next.is_multiple_of(BLOCK)
            && let Some((first, start)) = lists.blocks.get(self.next / BLOCK)
        {
            self.list.bits = BitReader::new(&lists.bits, *start as usize);
            before = *first;
        }
        let bits = &mut self.list.bits;
        self.term = Some(before.wrapping_add(bits.take_rice(lists.widths.term_bits)));
        let holders = bits.take_gamma();
        self.length = (holders >= LONG).then(|| bits.take_gamma() as usize);
        self.list = PostingsReader {
            bits: std::mem::take(bits),
            left: holders,
            skill_bits: lists.widths.skill_bits(holders),
            next_skill: 0,
        };
        self.next += 1;
    }

    fn skip_list(&mut self) {
        match self.length {
            Some(length) => self.list.bits.skip(length),
            None => self.list.by_ref().for_each(drop),
        }
    }
}

#[derive(Default)]
struct Writer {
    blocks: Vec<(u32, u32)>,
    bits: BitWriter,
    terms: usize,
    last: u32,
    widths: RiceWidths,
    list: BitWriter,
}

impl Writer {
    fn new(widths: RiceWidths) -> Self {
        Self { widths, ..Self::default() }
    }

    fn add(&mut self, term: u32, entries: &[(u32, Count)]) {
        debug_assert!(!entries.is_empty(), "a list needs at least one skill");
        let Self { blocks, bits, terms, last, widths, list } = self;
        if terms.is_multiple_of(BLOCK) {
            bits.fill_byte();
            blocks.push((term, (bits.len() / 8) as u32));
            *last = term;
        }
        let holders = entries.len() as u32;
        bits.put_rice(term - *last, widths.term_bits);
        bits.put_gamma(holders);
        write_list(list, entries, widths.skill_bits(holders));
        if holders >= LONG {
            bits.put_gamma(list.len() as u32);
        }
        bits.append(list);
        (*last, *terms) = (term, *terms + 1);
    }

    fn finish(self) -> Lists {
        let Self { mut blocks, bits, terms, widths, .. } = self;
        blocks.shrink_to_fit();
        Lists { blocks, bits: bits.finish(), terms, widths }
    }
}

fn write_list(list: &mut BitWriter, entries: &[(u32, Count)], skill_bits: u32) {
    let mut next_skill = 0;
    for (skill, count) in entries {
        debug_assert!(count.text > 0 || count.body > 0, "an entry needs a count in at least one field");
        list.put_rice(skill - next_skill, skill_bits);
        next_skill = skill + 1;
        let is_in_text = count.text > 0;
        list.put(u32::from(is_in_text), 1);
        if is_in_text {
            list.put_gamma(u32::from(count.text));
        }
        // Gamma codes need a number of at least 1. A term that is not in the text occurs at least once in the body.
        list.put_gamma(u32::from(count.body) + u32::from(is_in_text));
    }
}

/// A reader of the list for a term.
#[derive(Default)]
pub(super) struct PostingsReader<'a> {
    bits: BitReader<'a>,
    left: u32,
    skill_bits: u32,
    next_skill: u32,
}

impl Iterator for PostingsReader<'_> {
    type Item = (usize, Count);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let skill = self.next_skill.wrapping_add(self.bits.take_rice(self.skill_bits));
        self.next_skill = skill.wrapping_add(1);
        let is_in_text = self.bits.take(1);
        let mut count = Count::default();
        if is_in_text > 0 {
            count.text = self.bits.take_gamma() as u8;
        }
        count.body = (self.bits.take_gamma() - is_in_text) as u8;
        Some((skill as usize, count))
    }
}

#[cfg(test)]
mod tests;
