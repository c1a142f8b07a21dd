//! Vectors of examples, which are messages after which skills were used. They complement the descriptions.

use super::catalogue::Catalogue;
use super::learned::ExampleStatistics;

/// Example vectors of a catalogue's skills, stored as bytes with a scale for each vector. Cosines are exact to 0.005.
/// Sixteen examples of a skill take 6 kB of memory instead of 24.
#[derive(Debug, Default)]
pub struct Examples {
    dims: usize,
    rows: Vec<i8>,
    /// Catalogue position of each row's skill. `of` and `moved` sort the rows by it.
    skills: Vec<u32>,
    /// Reciprocal norm of each row.
    scales: Vec<f32>,
    /// Values learned from all examples of the catalogue.
    pub(super) learned: ExampleStatistics,
}

impl Examples {
    /// Creates examples from vectors in any order, each with the position of its skill. Leaves out zero vectors and
    /// vectors with other dimensions than the first.
    pub fn new<'a>(examples: impl Iterator<Item = (u32, &'a [f32])>) -> Self {
        let mut taken = Self::default();
        for (skill, vector) in examples.filter(|(_, vector)| !vector.is_empty()) {
            let fits = taken.dims == 0 || taken.dims == vector.len();
            let Some((row, scale)) = shorten(vector).filter(|_| fits) else { continue };
            taken.dims = vector.len();
            taken.push(&row, skill, scale);
        }
        taken.shrink();
        taken
    }

    /// Creates the examples of a catalogue from vectors, each with the position of its skill. Sorts the examples by
    /// skill.
    pub fn of<'a>(catalogue: &Catalogue, examples: impl Iterator<Item = (u32, &'a [f32])>) -> Self {
        let mut sorted: Vec<_> = examples.collect();
        sorted.sort_by_key(|(skill, _)| *skill);
        Self::new(sorted.into_iter()).with_learned(catalogue)
    }

    /// Returns the examples with new positions of their skills. Examples of removed skills are left out.
    pub fn moved(&self, place_of: impl Fn(u32) -> Option<u32>) -> Self {
        let mut places: Vec<(u32, usize)> =
            self.skills.iter().zip(0..).filter_map(|(skill, row)| Some((place_of(*skill)?, row))).collect();
        places.sort_unstable();
        let mut moved = Self { dims: self.dims, ..Self::default() };
        for (place, row) in places {
            moved.push(&self.rows[row * self.dims..(row + 1) * self.dims], place, self.scales[row]);
        }
        moved.shrink();
        moved
    }

    /// Computes the statistics of these examples in this catalogue, and stores them in `learned`.
    pub fn with_learned(mut self, catalogue: &Catalogue) -> Self {
        self.learned = ExampleStatistics::of(self.by_skill(), &catalogue.meanings);
        self
    }

    fn push(&mut self, row: &[i8], skill: u32, scale: f32) {
        self.rows.extend_from_slice(row);
        self.skills.push(skill);
        self.scales.push(scale);
    }

    fn shrink(&mut self) {
        self.rows.shrink_to_fit();
        self.skills.shrink_to_fit();
        self.scales.shrink_to_fit();
    }

    /// Returns the position of each skill that has examples, with the normalized vectors of its examples.
    pub(super) fn by_skill(&self) -> impl Iterator<Item = (usize, Vec<Vec<f32>>)> {
        let rows: Vec<(u32, Vec<f32>)> = self.skills.iter().copied().zip(self.vectors()).collect();
        let mut groups: Vec<(usize, Vec<Vec<f32>>)> = Vec::new();
        for (skill, vector) in rows {
            match groups.last_mut() {
                Some((last, vectors)) if *last == skill as usize => vectors.push(vector),
                _ => groups.push((skill as usize, vec![vector])),
            }
        }
        groups.into_iter()
    }

    /// Returns the vectors with the rounding of the stored form.
    pub fn vectors(&self) -> Vec<Vec<f32>> {
        let rows = self.rows.chunks_exact(self.dims.max(1)).zip(&self.scales);
        rows.map(|(row, scale)| row.iter().map(|byte| f32::from(*byte) * scale).collect()).collect()
    }

    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Returns whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// Returns the memory use in bytes.
    pub fn weight(&self) -> usize {
        let numbers = self.skills.capacity() + self.scales.capacity();
        size_of::<Self>() + self.rows.capacity() + numbers * size_of::<u32>() + self.learned.weight()
    }

    /// Returns the highest cosine between `query` and an example; 0 if no example can be compared.
    pub fn nearest(&self, query: &[f32]) -> f32 {
        let mut nearest: f32 = 0.0;
        self.visit_cosines(query, |_, cosine| nearest = nearest.max(cosine));
        nearest
    }

    /// Calls `visit` for each example, with the position of its skill and its cosine to `query`.
    pub(super) fn visit_cosines(&self, query: &[f32], mut visit: impl FnMut(usize, f32)) {
        let query = if query.len() == self.dims { shorten(query) } else { None };
        let Some((query, scale)) = query else { return };
        for ((row, skill), own) in self.rows.chunks_exact(self.dims.max(1)).zip(&self.skills).zip(&self.scales) {
            visit(*skill as usize, (multiply(row, &query) as f32 * own * scale).clamp(-1.0, 1.0));
        }
    }
}

/// Returns a vector as bytes, and the reciprocal norm of the bytes. `None` for a vector that is zero or not finite.
fn shorten(vector: &[f32]) -> Option<(Vec<i8>, f32)> {
    let largest = vector.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
    if !largest.is_normal() || vector.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // The rounded value is between -127 and 127, so the cast is exact.
    let row: Vec<i8> = vector.iter().map(|x| (x / largest * f32::from(i8::MAX)).round() as i8).collect();
    let length = (multiply(&row, &row) as f32).sqrt();
    length.is_normal().then(|| (row, 1.0 / length))
}

/// Returns the dot product. The products have 16 bits, so that compilers can compute eight of them with one
/// instruction.
fn multiply(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum()
}

#[cfg(test)]
mod tests;
