//! Cosines of vectors that come from outside, and so may lack a direction.

/// A vector of length 1.
pub(super) type Direction = Vec<f32>;

/// A vector scaled to length 1; `None` where it has no direction: empty, zero or not finite.
pub(super) fn direction_of(vector: &[f32]) -> Option<Direction> {
    // In 64 bits no square of a 32-bit float overflows.
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let is_usable = length.is_finite() && length > f64::from(f32::MIN_POSITIVE);
    is_usable.then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

/// The cosine of two directions; 0 for those of different models, which have nothing in common.
pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    dot(a, b).clamp(-1.0, 1.0)
}

/// The mean of some vectors that are as long as the first; empty for none.
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

/// The dot product, in lanes so that the compiler may take several numbers at once.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let ((a_lanes, a_rest), (b_lanes, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

#[cfg(test)]
mod tests;
