//! Which skill holds a term, and how much that counts: about 4 bytes per term and 3 per skill that holds it.
//!
//! Terms are cut to as many bits of their hash as tell them apart, and stand in ascending order in blocks of
//! [`BLOCK`]: the distance to the one before, the length of its list, the list. A list is a run of entries in skill
//! order: the distance to the last skill and whether the term is in the text or the body, then one byte per weight.
//! Distances and lengths are numbers of variable length.

/// The weights of one term in one skill: the saturated frequency of BM25 per field, before the idf.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Weights {
    /// In the name.
    pub(super) name: f32,
    /// In name, description and triggers.
    pub(super) text: f32,
    /// In the body.
    pub(super) body: f32,
}

/// BM25's weights lie below k1 + 1; a byte keeps them to half a percent.
const STEPS: f32 = 110.0;
const IN_TEXT: u32 = 1;
const IN_BODY: u32 = 2;
const BLOCK: usize = 16;
/// One of so many words that no skill holds is taken for one that some do.
const MISTAKEN: usize = 8192;

/// The lists of all terms.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Bits of a term's hash that are dropped.
    dropped: u32,
    /// The first term of each block and where the block begins.
    blocks: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

impl Lists {
    /// An empty one, for so many terms.
    pub(super) fn sized(terms: usize) -> Self {
        let bits = terms.max(1).saturating_mul(MISTAKEN).ilog2();
        Self { dropped: u32::BITS.saturating_sub(bits + 1), ..Self::default() }
    }

    /// What is kept of a term's hash.
    pub(super) fn cut(&self, term: u32) -> u32 {
        term >> self.dropped
    }

    /// Appends the lists of terms, as [`Lists::cut`], in ascending order.
    pub(super) fn fill<'a, L>(&mut self, lists: impl Iterator<Item = (u32, L)>)
    where
        L: Iterator<Item = (u32, Weights)> + 'a,
    {
        let (mut last, mut list) = (0, Vec::new());
        for (at, (term, entries)) in lists.enumerate() {
            if at % BLOCK == 0 {
                self.blocks.push((term, self.bytes.len() as u32));
                last = term;
            }
            write_list(&mut list, entries);
            write_number(&mut self.bytes, term - last);
            write_number(&mut self.bytes, list.len() as u32);
            self.bytes.append(&mut list);
            last = term;
        }
        self.blocks.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// The skills that hold a term, in order; none for an unknown term.
    pub(super) fn find(&self, term: u32) -> Reader<'_> {
        Reader { bytes: self.find_bytes(self.cut(term)).unwrap_or_default(), last: 0 }
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
}

fn write_list(list: &mut Vec<u8>, entries: impl Iterator<Item = (u32, Weights)>) {
    let mut last = 0;
    for (skill, weights) in entries {
        let in_text = if weights.text > 0.0 { IN_TEXT } else { 0 };
        let in_body = if weights.body > 0.0 { IN_BODY } else { 0 };
        write_number(list, (skill - last) << 2 | in_text | in_body);
        last = skill;
        if in_text != 0 {
            list.extend([quantise(weights.name), quantise(weights.text).max(1)]);
        }
        if in_body != 0 {
            list.push(quantise(weights.body).max(1));
        }
    }
}

fn quantise(weight: f32) -> u8 {
    // The cast saturates.
    (weight * STEPS).round() as u8
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
    /// Whether no skill holds the term.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn weight(&mut self) -> Option<f32> {
        let (byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(f32::from(*byte) / STEPS)
    }
}

impl Iterator for Reader<'_> {
    type Item = (usize, Weights);

    fn next(&mut self) -> Option<Self::Item> {
        let head = read_number(&mut self.bytes)?;
        self.last += head >> 2;
        let mut weights = Weights::default();
        if head & IN_TEXT != 0 {
            weights.name = self.weight()?;
            weights.text = self.weight()?;
        }
        if head & IN_BODY != 0 {
            weights.body = self.weight()?;
        }
        Some((self.last as usize, weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_come_back(
            lists in prop::collection::btree_map(0..1_u32 << 20, prop::collection::btree_set(0..1_u32 << 29, 1..4), 0..60),
            unknown: u32,
        ) {
            let weights = Weights { name: 0.0, text: 1.0, body: 2.0 };
            let mut all = Lists { dropped: 4, ..Lists::default() };
            all.fill(lists.iter().map(|(term, skills)| (*term, skills.iter().map(|skill| (*skill, weights)))));
            for (term, skills) in &lists {
                let found: Vec<u32> = all.find(term << 4 | 7).map(|(skill, found)| {
                    assert!((found.text - 1.0).abs() < 0.01 && (found.body - 2.0).abs() < 0.01);
                    skill as u32
                }).collect();
                prop_assert_eq!(found, skills.iter().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(all.find(unknown).is_empty(), !lists.contains_key(&(unknown >> 4)));
        }
    }
}
