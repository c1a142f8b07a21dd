//! Which skill holds a term, and how often: about 3 bytes per term and one per skill that holds it.
//!
//! Terms stand in ascending order in blocks of [`BLOCK`], each of which begins at a byte: the distance to the one before, how many
//! skills hold it, from [`LONG`] of them on how many bits its list has, its list. A list is a run of entries in skill order: how many
//! skills were left out since the last one; a bit that says whether the term is in the text, and if so the count of the text; the
//! count of the body (of one in the text plus one). All of them are numbers of as many bits as they need, as in any search
//! engine (Witten, Moffat and Bell 1999, "Managing Gigabytes", chapter 3): what is kept of a user decides how many can be kept.

use super::bits::{BitReader, BitWriter};

/// How often a term stands in each field of a skill, in one of them at least. More often than a byte can say counts no more: BM25
/// saturates long before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// In name, description and triggers.
    pub(super) text: u8,
    pub(super) body: u8,
}

const BLOCK: usize = 16;
/// From so many entries on a list says how long it is, so that a search for another term need not read it.
const LONG: u32 = 8;
/// The new number of a skill that is left out of a merge.
pub(super) const GONE: u32 = u32::MAX;

/// The lists of all terms.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The first term of each block and the byte where the block begins.
    blocks: Vec<(u32, u32)>,
    bits: Vec<u8>,
    terms: usize,
    widths: Widths,
}

/// How wide the usual distances between terms and between skills are: numbers near them take the fewest bits.
#[derive(Debug, Clone, Copy, Default)]
struct Widths {
    skills: u32,
    /// Low bits of a distance between terms.
    term_bits: u32,
}

impl Widths {
    fn of(skills: usize, terms: usize) -> Self {
        let terms = u32::try_from(terms).unwrap_or(u32::MAX);
        let term_bits = (u32::MAX / terms.max(1)).ilog2();
        Self { skills: u32::try_from(skills).unwrap_or(u32::MAX), term_bits }
    }

    /// Low bits of a distance between skills, where so many hold a term.
    fn skill_bits(self, holders: u32) -> u32 {
        (self.skills / holders.max(1)).max(1).ilog2()
    }
}

impl Lists {
    /// Writes lists of terms in ascending order, each with its skills in ascending order, one at least. `skills` and `terms` say about
    /// how many of each there are.
    pub(super) fn write<L>(skills: usize, terms: usize, lists: impl Iterator<Item = (u32, L)>) -> Self
    where
        L: Iterator<Item = (u32, Count)>,
    {
        let mut writer = Writer::new(Widths::of(skills, terms));
        let mut entries = Vec::new();
        for (term, list) in lists {
            entries.clear();
            entries.extend(list);
            writer.add(term, &entries);
        }
        writer.finish()
    }

    /// Writes the lists of several as one, of so many skills. Each comes with the new numbers of its skills, [`GONE`] for those to
    /// leave out.
    pub(super) fn merge(skills: usize, parts: &[(&Self, &[u32])]) -> Self {
        // Most terms of the smaller ones are in the largest one too.
        let terms = parts.iter().map(|(lists, _)| lists.terms).max().unwrap_or_default();
        let mut writer = Writer::new(Widths::of(skills, terms));
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

    /// The skills that hold a term, in order; none for an unknown term.
    pub(super) fn find(&self, term: u32) -> Reader<'_> {
        let block = self.blocks.partition_point(|(first, _)| *first <= term).checked_sub(1);
        let mut walk = block.map(|block| self.walk_from(block)).unwrap_or_default();
        while walk.term.is_some_and(|here| here < term) {
            walk.skip_list();
            walk.advance();
        }
        if walk.term == Some(term) { walk.list } else { Reader::default() }
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.blocks.capacity() * size_of::<(u32, u32)>() + self.bits.capacity()
    }

    /// Begins at a block.
    fn walk_from(&self, block: usize) -> Walk<'_> {
        let mut walk = Walk { next: block * BLOCK, lists: Some(self), ..Walk::default() };
        walk.advance();
        walk
    }
}

/// A way along the lists, in the order of their terms.
#[derive(Default)]
struct Walk<'a> {
    lists: Option<&'a Lists>,
    /// How many terms stand before the next one.
    next: usize,
    /// Where it is; `None` behind the last one.
    term: Option<u32>,
    /// The list of that term.
    list: Reader<'a>,
    /// The bits of a long one.
    length: Option<usize>,
}

impl<'a> Walk<'a> {
    /// Goes to the next term, once the list of this one is read.
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
        self.list = Reader {
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
    widths: Widths,
    list: BitWriter,
}

impl Writer {
    fn new(widths: Widths) -> Self {
        Self { widths, ..Self::default() }
    }

    fn add(&mut self, term: u32, entries: &[(u32, Count)]) {
        debug_assert!(!entries.is_empty(), "a term that nobody holds has no list");
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
        debug_assert!(count.text > 0 || count.body > 0, "who holds a term has it somewhere");
        list.put_rice(skill - next_skill, skill_bits);
        next_skill = skill + 1;
        let is_in_text = count.text > 0;
        list.put(u32::from(is_in_text), 1);
        if is_in_text {
            list.put_gamma(u32::from(count.text));
        }
        // Of a term that stands nowhere else the body has one at least.
        list.put_gamma(u32::from(count.body) + u32::from(is_in_text));
    }
}

/// Reads a term's list.
#[derive(Default)]
pub(super) struct Reader<'a> {
    bits: BitReader<'a>,
    left: u32,
    skill_bits: u32,
    next_skill: u32,
}

impl Iterator for Reader<'_> {
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
