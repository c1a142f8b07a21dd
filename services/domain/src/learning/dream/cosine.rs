//! Cosine similarity of embeddings. An embedding may be empty, zero or contain non-finite values.

use std::collections::HashMap;

use crate::kernel::dot::dot;

/// Minimum cosine between two skills at which one is a duplicate of the other.
pub(super) const SAME_COSINE: f32 = 0.85;

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

/// Returns for each text the earlier texts with nearly the same embedding. Leaves out texts without such texts.
pub fn find_twins(vectors: &[(usize, Vec<f32>)]) -> HashMap<usize, Vec<usize>> {
    let directions: Vec<(usize, Direction)> =
        vectors.iter().filter_map(|(at, vector)| Some((*at, direction_of(vector)?))).collect();
    let twins = directions.iter().enumerate().map(|(n, (at, own))| {
        let before = directions[..n].iter().filter(|(_, other)| cosine(own, other) >= SAME_COSINE);
        (*at, before.map(|(at, _)| *at).collect::<Vec<_>>())
    });
    twins.filter(|(_, before)| !before.is_empty()).collect()
}

#[cfg(test)]
mod tests;
