//! Messages after which skills were used, as vectors: they count beside the description.

/// The example vectors of a catalogue's skills, as bytes with a scale each: a cosine of bytes is within .005 of the true
/// one, and 16 examples of a skill take 6 kB of memory instead of 24.
#[derive(Debug, Default)]
pub struct Examples {
    dims: usize,
    rows: Vec<i8>,
    /// The skill of each row, by its place in the catalogue.
    skills: Vec<u32>,
    /// One over the length of each row.
    scales: Vec<f32>,
}

impl Examples {
    /// Takes vectors with the places of their skills, in any order; those without direction, or of other dimensions than
    /// the first, are left out.
    pub fn new<'a>(examples: impl Iterator<Item = (u32, &'a [f32])>) -> Self {
        let mut taken = Self::default();
        for (skill, vector) in examples.filter(|(_, vector)| !vector.is_empty()) {
            let fits = taken.dims == 0 || taken.dims == vector.len();
            let Some((row, scale)) = shorten(vector).filter(|_| fits) else { continue };
            taken.dims = vector.len();
            taken.rows.extend(row);
            taken.skills.push(skill);
            taken.scales.push(scale);
        }
        taken.rows.shrink_to_fit();
        taken.skills.shrink_to_fit();
        taken.scales.shrink_to_fit();
        taken
    }

    /// The same where skills have other places now; examples of those that have none are left out.
    pub fn moved(&self, place_of: impl Fn(u32) -> Option<u32>) -> Self {
        let mut moved = Self { dims: self.dims, ..Self::default() };
        let rows = self.rows.chunks_exact(self.dims.max(1)).zip(&self.skills).zip(&self.scales);
        for ((row, skill), scale) in rows {
            let Some(place) = place_of(*skill) else { continue };
            moved.rows.extend_from_slice(row);
            moved.skills.push(place);
            moved.scales.push(*scale);
        }
        moved
    }

    /// The vectors, as exact as they are kept.
    pub fn vectors(&self) -> Vec<Vec<f32>> {
        let rows = self.rows.chunks_exact(self.dims.max(1)).zip(&self.scales);
        rows.map(|(row, scale)| row.iter().map(|byte| f32::from(*byte) * scale).collect()).collect()
    }

    /// How many it holds.
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// Bytes of memory held.
    pub fn weight(&self) -> usize {
        size_of::<Self>() + self.rows.capacity() + (self.skills.capacity() + self.scales.capacity()) * size_of::<u32>()
    }

    /// Calls `visit` with the place of a skill and the cosine of `query` to one of its examples, for each example.
    pub(super) fn visit_cosines(&self, query: &[f32], mut visit: impl FnMut(usize, f32)) {
        let query = if query.len() == self.dims { shorten(query) } else { None };
        let Some((query, scale)) = query else { return };
        for ((row, skill), own) in self.rows.chunks_exact(self.dims.max(1)).zip(&self.skills).zip(&self.scales) {
            visit(*skill as usize, (multiply(row, &query) as f32 * own * scale).clamp(-1.0, 1.0));
        }
    }
}

/// A vector as bytes, and one over the length of these; `None` where it has no direction.
fn shorten(vector: &[f32]) -> Option<(Vec<i8>, f32)> {
    let largest = vector.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
    if !largest.is_normal() || vector.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // The cast is of a whole number between -127 and 127.
    let row: Vec<i8> = vector.iter().map(|x| (x / largest * f32::from(i8::MAX)).round() as i8).collect();
    let length = (multiply(&row, &row) as f32).sqrt();
    length.is_normal().then(|| (row, 1.0 / length))
}

/// The dot product. The products of 16 bits are what compilers turn into one instruction for eight of them.
fn multiply(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum()
}

#[cfg(test)]
mod tests;
