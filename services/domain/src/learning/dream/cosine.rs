//! Cosine similarity of embeddings. An embedding may be empty, zero or contain non-finite values.

use crate::kernel::dot::dot;

/// A vector of length 1.
pub(super) type Direction = Vec<f32>;

/// Scales a vector to length 1. Returns `None` if the vector is empty, zero or contains non-finite values.
pub(super) fn direction_of(vector: &[f32]) -> Option<Direction> {
    // The sum is computed in 64 bits, because the square of a 32-bit float cannot overflow there.
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let is_usable = length.is_finite() && length > f64::from(f32::MIN_POSITIVE);
    is_usable.then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

/// Returns the cosine of two directions; 0 if their dimensions differ, because they come from different models.
pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    dot(a, b).clamp(-1.0, 1.0)
}

/// Returns the mean of vectors with equal dimensions; empty if there are no vectors.
pub(super) fn mean_of<'a>(vectors: impl IntoIterator<Item = &'a [f32]>) -> Vec<f32> {
    let mut vectors = vectors.into_iter();
    let Some(first) = vectors.next() else { return Vec::new() };
    let (mut sum, mut count) = (first.to_vec(), 1.0);
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
        count += 1.0;
    }
    sum.iter_mut().for_each(|x| *x /= count);
    sum
}

#[cfg(test)]
mod tests;
