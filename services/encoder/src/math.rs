//! Functions on numbers and rows, written so that the compiler translates them to vector instructions.

use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};

use crate::linear::LANES;

/// Gain and offset for each number in a row, used in a layer normalisation.
pub(crate) struct Norm {
    pub(crate) gain: Vec<f32>,
    pub(crate) offset: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl Norm {
    /// Adds `added` to `rows` element by element. Then normalises each row to mean 0 and variance 1, and applies gain
    /// and offset.
    #[inline(always)]
    pub(crate) fn add(&self, rows: &mut [f32], added: &[f32]) {
        for (value, more) in rows.iter_mut().zip(added) {
            *value += more;
        }
        self.apply(rows);
    }

    /// Normalises each row to mean 0 and variance 1, then applies gain and offset.
    #[inline(always)]
    pub(crate) fn apply(&self, rows: &mut [f32]) {
        let width = self.gain.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = sum(row, |value| value) / width as f32;
            for value in row.iter_mut() {
                *value -= mean;
            }
            let factor = 1.0 / (sum(row, |value| value * value) / width as f32 + self.epsilon).sqrt();
            for ((value, gain), offset) in row.iter_mut().zip(&self.gain).zip(&self.offset) {
                *value = *value * factor * gain + offset;
            }
        }
    }
}

/// Replaces the numbers in a row by their softmax: positive shares with a sum of 1.
#[inline(always)]
pub(crate) fn softmax(row: &mut [f32]) {
    let most = row.iter().copied().fold(f32::MIN, f32::max);
    for value in row.iter_mut() {
        *value = exp(*value - most);
    }
    let factor = 1.0 / row.iter().sum::<f32>();
    for value in row.iter_mut() {
        *value *= factor;
    }
}

/// Applies the Gaussian error linear unit to each number. The error function is approximated by Abramowitz and
/// Stegun's formula 7.1.26.
#[inline(always)]
pub(crate) fn gelu(values: &mut [f32]) {
    for value in values {
        let x = value.abs() * FRAC_1_SQRT_2;
        let t = 1.0 / (1.0 + 0.327_591_1 * x);
        let tail = t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
        let erf = (1.0 - tail * exp(-x * x)).copysign(*value);
        *value = 0.5 * *value * (1.0 + erf);
    }
}

/// Normalises a vector to length 1. A zero vector stays unchanged.
pub(crate) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
}

#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    for part in row.as_chunks::<LANES>().0 {
        for (sum, value) in sums.iter_mut().zip(part) {
            *sum += of(*value);
        }
    }
    sums.iter().sum()
}

/// Returns the exponential function with seven digits of precision, computed as in Cephes.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUNDER: f32 = 12_582_912.0; // the sum with 1.5 * 2^23 has no bits for a fraction, so it is rounded
    let x = x.clamp(-87.0, 88.0);
    let power = (x * LOG2_E + ROUNDER) - ROUNDER;
    let r = x - power * 0.693_359_4 + power * 2.121_944_4e-4;
    let tail = 0.5 + r * (0.166_666_65 + r * (0.041_665_795 + r * (0.008_333_452 + r * 0.001_398_2)));
    let factor = f32::from_bits(((power as i32 + 127) << 23) as u32);
    (1.0 + r + r * r * tail) * factor
}

#[cfg(test)]
mod tests;
