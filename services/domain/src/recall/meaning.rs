//! Embeddings of the skills in a catalogue, and their cosines to a message.

use half::f16;

/// Embeddings of some skills as 16-bit floats, like a `halfvec` of pgvector. Cosines therefore differ from the
/// database's only by the order of additions (about 1e-6).
#[derive(Debug, Default)]
pub(super) struct Meanings {
    dims: usize,
    rows: Vec<u16>,
    /// Row of each skill; `NONE` if it has no embedding yet.
    row_of: Vec<u32>,
    /// Reciprocal norm of each row.
    scales: Vec<f32>,
}

const NONE: u32 = u32::MAX;

/// Source of a skill's embedding.
pub(super) enum Vector<'a> {
    /// A new embedding; `None` if it is missing.
    New(Option<&'a [f32]>),
    /// The embedding of the skill at this position in the previous catalogue.
    Of(usize),
}

impl Meanings {
    /// Returns the embeddings of a new list of skills, in the order of the list. A zero vector, or a vector with other
    /// dimensions than the first, counts as missing.
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

    /// Returns the normalized embedding of a skill, if it has one.
    pub(super) fn vector(&self, place: usize) -> Option<Vec<f32>> {
        let (row, scale) = self.row(place)?;
        Some(row.iter().map(|x| widen(*x) * scale).collect())
    }

    /// Returns the cosine of `query` to each skill; `None` for a skill without an embedding. The list is empty if no
    /// skill can be compared.
    pub(super) fn cosines(&self, query: &[f32]) -> Vec<Option<f32>> {
        let query = if query.len() == self.dims { shorten(query) } else { None };
        let Some((query, scale)) = query else { return Vec::new() };
        // The query is normalized before scaling, so that no number overflows.
        let query: Vec<f32> = query.into_iter().map(|x| widen(x) * scale * REBIAS).collect();
        let cosine = |place| {
            let (row, own) = self.row(place)?;
            Some((multiply(row, &query) * own).clamp(-1.0, 1.0))
        };
        (0..self.row_of.len()).map(cosine).collect()
    }

    /// Returns the memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        let numbers = self.row_of.capacity() + self.scales.capacity();
        self.rows.capacity() * size_of::<u16>() + numbers * size_of::<u32>()
    }
}

/// Returns a vector as 16-bit floats and its reciprocal norm; `None` for a zero vector.
fn shorten(vector: &[f32]) -> Option<(Vec<u16>, f32)> {
    let row: Vec<u16> = vector.iter().map(|x| narrow(*x)).collect();
    let length = row.iter().map(|x| widen(*x) * widen(*x)).sum::<f32>().sqrt();
    length.is_normal().then(|| (row, 1.0 / length))
}

/// Factor between the exponents of 32-bit and 16-bit floats: 2^112.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
/// The largest finite 16-bit float.
const LARGEST: f32 = f16::MAX.to_f32_const();

/// Rounds to a 16-bit float, ties to even. Larger numbers become the largest finite one.
fn narrow(x: f32) -> u16 {
    f16::from_f32(x.clamp(-LARGEST, LARGEST)).to_bits()
}

/// Returns a number rounded to 16 bits, as it is stored.
#[cfg(test)]
pub(super) fn rounded(x: f32) -> f32 {
    widen(narrow(x))
}

fn widen(x: u16) -> f32 {
    f16::from_bits(x).to_f32()
}

/// Returns the value of a 16-bit float divided by [`REBIAS`]: moves sign, exponent and fraction to their places in a
/// 32-bit float.
fn widen_scaled(x: u16) -> f32 {
    f32::from_bits((i32::from(x.cast_signed()) << 13) as u32 & 0x8fff_e000)
}

/// Returns the dot product with a query that is scaled by [`REBIAS`]. Sums are computed in lanes, so that compilers
/// can vectorize them.
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
