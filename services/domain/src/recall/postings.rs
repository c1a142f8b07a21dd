//! Which skill holds a term, and how much that counts: about two bytes per skill and term.
//!
//! A term's list is a run of entries in skill order: the distance to the last skill and whether the term is in the
//! text or the body, as a variable-length number, then one byte per weight.

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

/// Encodes the list of one term.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    last: u32,
}

impl<'a> Writer<'a> {
    /// Begins a list at the end of `out`.
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, last: 0 }
    }

    /// Appends an entry; skills come in ascending order.
    pub(super) fn push(&mut self, skill: u32, weights: Weights) {
        let in_text = if weights.text > 0.0 { IN_TEXT } else { 0 };
        let in_body = if weights.body > 0.0 { IN_BODY } else { 0 };
        let mut head = (skill - self.last) << 2 | in_text | in_body;
        self.last = skill;
        while head >= 0x80 {
            self.out.push((head & 0x7f) as u8 | 0x80);
            head >>= 7;
        }
        self.out.push(head as u8);
        if in_text != 0 {
            self.out.extend([quantise(weights.name), quantise(weights.text).max(1)]);
        }
        if in_body != 0 {
            self.out.push(quantise(weights.body).max(1));
        }
    }
}

fn quantise(weight: f32) -> u8 {
    // The cast saturates.
    (weight * STEPS).round() as u8
}

/// Reads a term's list.
pub(super) struct Reader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    last: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter(), last: 0 }
    }

    fn weight(&mut self) -> Option<f32> {
        Some(f32::from(*self.bytes.next()?) / STEPS)
    }
}

impl Iterator for Reader<'_> {
    type Item = (usize, Weights);

    fn next(&mut self) -> Option<Self::Item> {
        let (mut head, mut shift) = (0, 0);
        loop {
            let byte = *self.bytes.next()?;
            head |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
            shift += 7;
        }
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
