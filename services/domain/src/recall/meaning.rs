//! Embeddings of a catalogue's skills, and the cosine of a message to each.

use half::f16;

/// The embeddings of some skills as 16-bit floats, the numbers that a `halfvec` of pgvector holds, so that a cosine
/// differs from one computed there by the order of its additions only (about 1e-6).
#[derive(Debug, Default)]
pub(super) struct Meanings {
    dims: usize,
    rows: Vec<u16>,
    /// The row of each skill; `NONE` where it is not embedded yet.
    row_of: Vec<u32>,
    /// One over the length of each row.
    scales: Vec<f32>,
}

const NONE: u32 = u32::MAX;

/// Where the embedding of a skill comes from.
pub(super) enum Vector<'a> {
    /// From here; `None` where it has none.
    New(Option<&'a [f32]>),
    /// It is that of the skill which stood at this place.
    Of(usize),
}

impl Meanings {
    /// Takes the embeddings of skills in order; those without direction, or of other dimensions than the first, count
    /// as missing.
    pub(super) fn update<'a>(&self, vectors: impl Iterator<Item = Vector<'a>>) -> Self {
        let mut meanings = Self::default();
        for vector in vectors {
            match vector {
                Vector::New(embedding) => {
                    meanings.push(embedding.and_then(shorten).as_ref().map(|(row, s)| (&**row, *s)))
                }
                Vector::Of(place) => meanings.push(self.row(place)),
            }
        }
        meanings.rows.shrink_to_fit();
        meanings.scales.shrink_to_fit();
        meanings
    }

    fn push(&mut self, row: Option<(&[u16], f32)>) {
        let Some((row, scale)) = row.filter(|(row, _)| self.dims == 0 || self.dims == row.len()) else {
            self.row_of.push(NONE);
            return;
        };
        self.dims = row.len();
        self.row_of.push(u32::try_from(self.scales.len()).unwrap_or(NONE));
        self.scales.push(scale);
        self.rows.extend_from_slice(row);
    }

    fn row(&self, place: usize) -> Option<(&[u16], f32)> {
        let row = *self.row_of.get(place)? as usize;
        let scale = *self.scales.get(row)?;
        Some((self.rows.get(row * self.dims..(row + 1) * self.dims)?, scale))
    }

    /// The embedding of a skill, of length 1; `None` where it has none.
    pub(super) fn vector(&self, place: usize) -> Option<Vec<f32>> {
        let (row, scale) = self.row(place)?;
        Some(row.iter().map(|x| widen(*x) * scale).collect())
    }

    /// The cosine of `query` to each skill, `None` for skills without embedding; empty where nothing can be compared.
    pub(super) fn cosines(&self, query: &[f32]) -> Vec<Option<f32>> {
        let query = if query.len() == self.dims { shorten(query) } else { None };
        let Some((query, scale)) = query else { return Vec::new() };
        // Of length 1 before it is scaled up: nothing can overflow.
        let query: Vec<f32> = query.into_iter().map(|x| widen(x) * scale * REBIAS).collect();
        let cosine = |place| {
            let (row, own) = self.row(place)?;
            Some((multiply(row, &query) * own).clamp(-1.0, 1.0))
        };
        (0..self.row_of.len()).map(cosine).collect()
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        let numbers = self.row_of.capacity() + self.scales.capacity();
        self.rows.capacity() * size_of::<u16>() + numbers * size_of::<u32>()
    }
}

/// A vector as 16-bit floats, and one over its length; `None` where it has no direction.
fn shorten(vector: &[f32]) -> Option<(Vec<u16>, f32)> {
    let row: Vec<u16> = vector.iter().map(|x| narrow(*x)).collect();
    let length = row.iter().map(|x| widen(*x) * widen(*x)).sum::<f32>().sqrt();
    length.is_normal().then(|| (row, 1.0 / length))
}

/// Moves the exponent of a 16-bit float to where a 32-bit one has it.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
const LARGEST: f32 = f16::MAX.to_f32_const();

/// To 16 bits, ties to even; larger numbers become the largest.
fn narrow(x: f32) -> u16 {
    f16::from_f32(x.clamp(-LARGEST, LARGEST)).to_bits()
}

/// The number that is kept for another.
#[cfg(test)]
pub(super) fn rounded(x: f32) -> f32 {
    widen(narrow(x))
}

fn widen(x: u16) -> f32 {
    f16::from_bits(x).to_f32()
}

/// The number divided by [`REBIAS`]: sign, exponent and fraction put where a 32-bit float has them.
fn widen_scaled(x: u16) -> f32 {
    f32::from_bits((i32::from(x.cast_signed()) << 13) as u32 & 0x8fff_e000)
}

/// The dot product with a query scaled up by [`REBIAS`]; in lanes, so that compilers may take several numbers at once.
fn multiply(row: &[u16], query: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let (queries, query_rest) = query.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (row, query) in rows.iter().zip(queries) {
        for lane in 0..LANES {
            sums[lane] += widen_scaled(row[lane]) * query[lane];
        }
    }
    let rest: f32 = row_rest.iter().zip(query_rest).map(|(a, b)| widen_scaled(*a) * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests;
