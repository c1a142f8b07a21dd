//! Which skill holds a term, and how often: about 5 bytes per term and 3 per skill that holds it.
//!
//! Terms stand in ascending order in blocks of [`BLOCK`]: the distance to the one before, the length of its list, the
//! list. A list is a run of entries in skill order: the distance to the last skill and whether the term is in the text or
//! the body, then one byte per count. Distances and lengths are numbers of variable length.

use std::iter::Peekable;

/// How often a term stands in each field of a skill. More often than a byte can say counts no more: BM25 saturates long
/// before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) name: u8,
    /// In name, description and triggers.
    pub(super) text: u8,
    pub(super) body: u8,
}

const IN_TEXT: u32 = 1;
const IN_BODY: u32 = 2;
const BLOCK: usize = 16;
/// The new number of a skill that is left out of a merge.
pub(super) const GONE: u32 = u32::MAX;

/// The lists of all terms.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The first term of each block and where the block begins.
    blocks: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

impl Lists {
    /// Writes lists of terms in ascending order, each with its skills in ascending order.
    pub(super) fn write<L>(lists: impl Iterator<Item = (u32, L)>) -> Self
    where
        L: Iterator<Item = (u32, Count)>,
    {
        let mut writer = Writer::default();
        for (term, entries) in lists {
            writer.add(term, entries);
        }
        writer.finish()
    }

    /// Writes the lists of several as one. Each comes with the new numbers of its skills, [`GONE`] for those to leave out.
    pub(super) fn merge(parts: &[(&Self, &[u32])]) -> Self {
        let mut writer = Writer::default();
        let mut readers: Vec<_> = parts.iter().map(|(lists, numbers)| (lists.iter().peekable(), *numbers)).collect();
        let mut entries = Vec::new();
        let next = |reader: &mut Peekable<All<'_>>| reader.peek().map(|(term, _)| *term);
        while let Some(term) = readers.iter_mut().filter_map(|(reader, _)| next(reader)).min() {
            entries.clear();
            for (reader, numbers) in &mut readers {
                if let Some((_, list)) = reader.next_if(|(own, _)| *own == term) {
                    let renumbered = list.map(|(skill, count)| (numbers.get(skill).copied().unwrap_or(GONE), count));
                    entries.extend(renumbered.filter(|(skill, _)| *skill != GONE));
                }
            }
            entries.sort_unstable_by_key(|(skill, _)| *skill);
            if !entries.is_empty() {
                writer.add(term, entries.iter().copied());
            }
        }
        writer.finish()
    }

    /// The skills that hold a term, in order; none for an unknown term.
    pub(super) fn find(&self, term: u32) -> Reader<'_> {
        Reader { bytes: self.find_bytes(term).unwrap_or_default(), last: 0 }
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.blocks.capacity() * size_of::<(u32, u32)>() + self.bytes.capacity()
    }

    fn find_bytes(&self, term: u32) -> Option<&[u8]> {
        let block = self.blocks.partition_point(|(first, _)| *first <= term).checked_sub(1)?;
        let (mut here, start) = *self.blocks.get(block)?;
        let end = self.blocks.get(block + 1).map_or(self.bytes.len(), |(_, next)| *next as usize);
        let mut bytes = self.bytes.get(start as usize..end)?;
        loop {
            here += read_number(&mut bytes)?;
            let length = read_number(&mut bytes)? as usize;
            if here >= term {
                return bytes.get(..length).filter(|_| here == term);
            }
            bytes = bytes.get(length..)?;
        }
    }

    fn iter(&self) -> All<'_> {
        All { bytes: &self.bytes, blocks: &self.blocks, at: 0, last: 0 }
    }
}

/// All lists, in the order of their terms.
struct All<'a> {
    bytes: &'a [u8],
    blocks: &'a [(u32, u32)],
    at: usize,
    last: u32,
}

impl<'a> Iterator for All<'a> {
    type Item = (u32, Reader<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at.is_multiple_of(BLOCK) {
            self.last = self.blocks.get(self.at / BLOCK)?.0;
        }
        self.at += 1;
        self.last += read_number(&mut self.bytes)?;
        let length = read_number(&mut self.bytes)? as usize;
        let (list, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some((self.last, Reader { bytes: list, last: 0 }))
    }
}

#[derive(Default)]
struct Writer {
    lists: Lists,
    terms: usize,
    last: u32,
    list: Vec<u8>,
}

impl Writer {
    fn add(&mut self, term: u32, entries: impl Iterator<Item = (u32, Count)>) {
        let Self { lists, terms, last, list } = self;
        if terms.is_multiple_of(BLOCK) {
            lists.blocks.push((term, lists.bytes.len() as u32));
            *last = term;
        }
        write_list(list, entries);
        write_number(&mut lists.bytes, term - *last);
        write_number(&mut lists.bytes, list.len() as u32);
        lists.bytes.append(list);
        (*last, *terms) = (term, *terms + 1);
    }

    fn finish(mut self) -> Lists {
        self.lists.blocks.shrink_to_fit();
        self.lists.bytes.shrink_to_fit();
        self.lists
    }
}

fn write_list(list: &mut Vec<u8>, entries: impl Iterator<Item = (u32, Count)>) {
    let mut last = 0;
    for (skill, count) in entries {
        let in_text = if count.text > 0 { IN_TEXT } else { 0 };
        let in_body = if count.body > 0 { IN_BODY } else { 0 };
        write_number(list, (skill - last) << 2 | in_text | in_body);
        last = skill;
        if in_text != 0 {
            list.extend([count.name, count.text]);
        }
        if in_body != 0 {
            list.push(count.body);
        }
    }
}

/// Seven bits at a time, the lowest first; all bytes but the last have the high bit.
fn write_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Reads a term's list.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    last: u32,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*byte)
    }
}

impl Iterator for Reader<'_> {
    type Item = (usize, Count);

    fn next(&mut self) -> Option<Self::Item> {
        let head = read_number(&mut self.bytes)?;
        self.last += head >> 2;
        let mut count = Count::default();
        if head & IN_TEXT != 0 {
            count.name = self.byte()?;
            count.text = self.byte()?;
        }
        if head & IN_BODY != 0 {
            count.body = self.byte()?;
        }
        Some((self.last as usize, count))
    }
}

#[cfg(test)]
mod tests;
