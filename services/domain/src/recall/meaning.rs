//! Embeddings of a catalogue's skills in fixed point, and the cosine of a message to each.

/// One is this much: products of two unit vectors stay within 28 bits, whatever the order of addition.
const ONE: f32 = 16_384.0;

/// The embeddings of some skills: 2 bytes per dimension; sums are whole numbers, so every machine ranks alike.
#[derive(Debug, Default)]
pub(super) struct Meanings {
    dims: usize,
    rows: Vec<i16>,
    /// The row of each skill; `NONE` where it is not embedded yet.
    row_of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Meanings {
    /// Takes the embeddings of skills in order; those of other dimensions than the first count as missing.
    pub(super) fn new<'a>(embeddings: impl Iterator<Item = Option<&'a [f32]>>) -> Self {
        let mut meanings = Self::default();
        for embedding in embeddings {
            let row = embedding.filter(|e| !e.is_empty() && (meanings.dims == 0 || meanings.dims == e.len()));
            let Some(row) = row else {
                meanings.row_of.push(NONE);
                continue;
            };
            meanings.dims = row.len();
            meanings.row_of.push(u32::try_from(meanings.rows.len() / row.len()).unwrap_or(NONE));
            meanings.rows.extend(fixed_point(row));
        }
        meanings.rows.shrink_to_fit();
        meanings
    }

    /// The cosine of `query` to each skill, `None` for skills without embedding; empty where nothing can be compared.
    pub(super) fn cosines(&self, query: &[f32]) -> Vec<Option<f32>> {
        if self.dims == 0 || query.len() != self.dims {
            return Vec::new();
        }
        let query: Vec<i16> = fixed_point(query).collect();
        let cosine = |row: &u32| {
            let start = (*row as usize).checked_mul(self.dims)?;
            let row = self.rows.get(start..start.checked_add(self.dims)?)?;
            let dot: i32 = row.iter().zip(&query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            Some(dot as f32 / (ONE * ONE))
        };
        self.row_of.iter().map(cosine).collect()
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.rows.capacity() * size_of::<i16>() + self.row_of.capacity() * size_of::<u32>()
    }
}

/// Normalises again, so that no vector can overflow.
fn fixed_point(vector: &[f32]) -> impl Iterator<Item = i16> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let scale = if length.is_normal() { ONE / length } else { 0.0 };
    vector.iter().map(move |x| (x * scale).round() as i16)
}
