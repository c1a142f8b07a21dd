//! Matrix products. The weights are 16-bit integers in panels of sixteen columns, and sums are in single precision.
//!
//! Each column has its own scale. Integers take half the memory and memory traffic of floats, with a negligible loss
//! of precision.

use fearless_simd::{Simd, f32x16, prelude::*};

/// Number of columns in a panel. They fill one register in AVX-512, two in AVX2 or four in NEON.
pub(crate) const LANES: usize = 16;
/// Number of partial sums that are computed in parallel for one row.
const SUMS: usize = 4;

/// Input rows. Each row starts `stride` numbers after the previous one.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) count: usize,
}

/// Output rows. Each row starts `stride` numbers after the previous one.
pub(crate) struct RowsMut<'a> {
    pub(crate) values: &'a mut [f32],
    pub(crate) stride: usize,
}

/// Sixteen columns of a matrix: sixteen weights for each input. The sum of a column is multiplied by its scale, and
/// then its bias is added.
#[derive(Clone, Copy)]
pub(crate) struct Panel<'a> {
    pub(crate) weights: &'a [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) bias: &'a [f32],
}

/// Multiplies rows with a panel. The sixteen results of a row are written to the start of the corresponding row of
/// `out`.
///
/// The numbers of a row are always summed in the same order, so that the result does not depend on the number of
/// rows.
#[inline(always)]
pub(crate) fn multiply<S: Simd>(simd: S, rows: Rows<'_>, panel: Panel<'_>, out: RowsMut<'_>) {
    let mut done = 0;
    macro_rules! tiles {
        ($height:literal) => {
            while rows.count - done >= $height {
                let tile = Rows { values: &rows.values[done * rows.stride..], ..rows };
                let out = RowsMut { values: &mut out.values[done * out.stride..], stride: out.stride };
                simd.vectorize(
                    #[inline(always)]
                    || multiply_tile::<S, $height>(simd, tile, panel, out),
                );
                done += $height;
            }
        };
    }
    // The height of a tile is limited by the number of registers: AVX-512 has 32, and AVX2 has 16 with half the width.
    if S::f32s::LEN >= LANES {
        tiles!(12);
        tiles!(8);
    }
    tiles!(6);
    tiles!(4);
    tiles!(2);
    tiles!(1);
}

#[inline(always)]
fn multiply_tile<S: Simd, const HEIGHT: usize>(simd: S, rows: Rows<'_>, panel: Panel<'_>, out: RowsMut<'_>) {
    let inputs = panel.weights.len() / LANES;
    let lines: [&[f32]; HEIGHT] = std::array::from_fn(|row| &rows.values[row * rows.stride..][..inputs]);
    let mut sums = [f32x16::splat(simd, 0.0); HEIGHT];
    for (input, weights) in panel.weights.chunks_exact(LANES).enumerate() {
        let weights = f32x16::from_slice(simd, weights);
        for (sum, line) in sums.iter_mut().zip(&lines) {
            *sum = weights.mul_add(f32x16::splat(simd, line[input]), *sum);
        }
    }
    let (scale, bias) = (f32x16::from_slice(simd, panel.scale), f32x16::from_slice(simd, panel.bias));
    for (row, sum) in sums.into_iter().enumerate() {
        sum.mul_add(scale, bias).store_slice(&mut out.values[row * out.stride..][..LANES]);
    }
}

/// The input, output and scratch memory of a layer.
pub(crate) struct Passing<'a> {
    /// The input rows.
    pub(crate) input: &'a [f32],
    /// The output rows.
    pub(crate) out: &'a mut [f32],
    /// Scratch memory of at least [`Linear::room`] floats.
    pub(crate) room: &'a mut [f32],
}

/// A layer of weights and biases.
pub(crate) struct Linear {
    inputs: usize,
    outputs: usize,
    weights: Vec<i16>,
    scale: Vec<f32>,
    bias: Vec<f32>,
}

impl Linear {
    /// Packs the weights of a matrix. All weights of the first output come first.
    pub(crate) fn pack(weights: &[f32], bias: Vec<f32>) -> Self {
        let outputs = bias.len();
        let inputs = weights.len() / outputs;
        let mut short = Vec::with_capacity(weights.len());
        let scale = weights.chunks_exact(inputs).map(|column| shorten(column, &mut short)).collect();
        let mut packed = Vec::with_capacity(weights.len());
        for panel in short.chunks_exact(inputs * LANES) {
            for input in 0..inputs {
                packed.extend((0..LANES).map(|output| panel[output * inputs + input]));
            }
        }
        Self { inputs, outputs, weights: packed, scale, bias }
    }

    /// Returns the size of the scratch memory that [`Linear::apply`] needs, as a number of floats.
    pub(crate) fn room(&self) -> usize {
        self.inputs * LANES
    }

    /// Returns the number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Multiplies all input rows, and writes the results to `out`.
    #[inline(always)]
    pub(crate) fn apply<S: Simd>(&self, simd: S, passing: Passing<'_>) {
        let Passing { input, out, room } = passing;
        let rows = Rows { values: input, stride: self.inputs, count: input.len() / self.inputs };
        self.apply_rows(simd, (rows, RowsMut { values: out, stride: self.outputs }), room);
    }

    /// Multiplies rows that may overlap, e.g. the windows of a convolution.
    #[inline(always)]
    pub(crate) fn apply_rows<S: Simd>(&self, simd: S, (rows, out): (Rows<'_>, RowsMut<'_>), room: &mut [f32]) {
        let room = &mut room[..self.room()];
        let columns = self.scale.chunks_exact(LANES).zip(self.bias.chunks_exact(LANES));
        for (number, (short, (scale, bias))) in self.weights.chunks_exact(self.room()).zip(columns).enumerate() {
            for (wide, &short) in room.iter_mut().zip(short) {
                *wide = f32::from(short);
            }
            let out = RowsMut { values: &mut out.values[number * LANES..], stride: out.stride };
            multiply(simd, rows, Panel { weights: room, scale, bias }, out);
        }
    }
}

impl Linear {
    /// Multiplies one row. Several sums run in parallel, because with a single sum each addition would wait for the
    /// previous one.
    #[inline(always)]
    pub(crate) fn apply_one<S: Simd>(&self, simd: S, input: &[f32], out: &mut [f32]) {
        let columns = self.scale.as_chunks::<LANES>().0.iter().zip(self.bias.as_chunks::<LANES>().0);
        let panels = self.weights.chunks_exact(self.room()).zip(columns);
        for ((weights, (scale, bias)), out) in panels.zip(out.chunks_exact_mut(LANES)) {
            let mut sums = [f32x16::splat(simd, 0.0); SUMS];
            let (rows, _) = weights.as_chunks::<LANES>();
            for (rows, inputs) in rows.chunks(SUMS).zip(input.chunks(SUMS)) {
                for ((sum, row), input) in sums.iter_mut().zip(rows).zip(inputs) {
                    let wide: [f32; LANES] = std::array::from_fn(|lane| f32::from(row[lane]));
                    *sum = f32x16::from_slice(simd, &wide).mul_add(f32x16::splat(simd, *input), *sum);
                }
            }
            let total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            total.mul_add(f32x16::from_slice(simd, scale), f32x16::from_slice(simd, bias)).store_slice(out);
        }
    }
}

/// Appends numbers as 16-bit integers, and returns the scale that converts the integers back.
pub(crate) fn shorten(numbers: &[f32], short: &mut Vec<i16>) -> f32 {
    let most = f32::from(i16::MAX);
    let scale = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs())) / most;
    let factor = if scale.is_normal() { 1.0 / scale } else { 0.0 };
    short.extend(numbers.iter().map(|number| (number * factor).round().clamp(-most, most) as i16));
    scale
}
