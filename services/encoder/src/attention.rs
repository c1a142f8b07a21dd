//! Attention within one text: the new vector of a token is the weighted sum of the values of all tokens, for each
//! head.

use fearless_simd::Simd;

use crate::linear::{LANES, Panel, Rows, RowsMut, multiply};
use crate::math::softmax;

const SCALE: &[f32] = &[1.0; LANES];
const BIAS: &[f32] = &[0.0; LANES];

/// Scratch memory for attention, large enough for the longest text in a batch.
pub(crate) struct Attention {
    heads: usize,
    width: usize,
    keys: Vec<f32>,
    values: Vec<f32>,
    scores: Vec<f32>,
}

impl Attention {
    pub(crate) fn new(heads: usize, width: usize, longest: usize) -> Self {
        let (padded, head) = (longest.next_multiple_of(LANES), width / heads);
        let (keys, values) = (vec![0.0; padded * head], vec![0.0; longest * head]);
        Self { heads, width, keys, values, scores: vec![0.0; longest * padded] }
    }

    /// Computes the rows of `out` from the queries, keys and values of one text. `rows` has the three vectors of each
    /// token side by side. The queries must be scaled already.
    #[inline(always)]
    pub(crate) fn run<S: Simd>(&mut self, simd: S, rows: &[f32], out: &mut [f32]) {
        let (row, head) = (3 * self.width, self.width / self.heads);
        let count = rows.len() / row;
        let padded = count.next_multiple_of(LANES);
        let scores = &mut self.scores[..count * padded];
        for first in (0..self.width).step_by(head) {
            let (keys, values) = (&mut self.keys[..padded * head], &mut self.values[..count * head]);
            for (token, row) in rows.chunks_exact(row).enumerate() {
                let key = &row[self.width + first..][..head];
                for (place, value) in keys[token / LANES * LANES * head..].chunks_exact_mut(LANES).zip(key) {
                    place[token % LANES] = *value;
                }
                let value = row[2 * self.width + first..][..head].chunks_exact(LANES);
                for (panel, part) in values.chunks_exact_mut(count * LANES).zip(value) {
                    panel[token * LANES..][..LANES].copy_from_slice(part);
                }
            }
            let queries = Rows { values: &rows[first..], stride: row, count };
            for (number, weights) in keys.chunks_exact(head * LANES).enumerate() {
                let panel = Panel { weights, scale: SCALE, bias: BIAS };
                multiply(simd, queries, panel, RowsMut { values: &mut scores[number * LANES..], stride: padded });
            }
            for row in scores.chunks_exact_mut(padded) {
                softmax(&mut row[..count]);
            }
            let shares = Rows { values: scores, stride: padded, count };
            for (number, weights) in values.chunks_exact(count * LANES).enumerate() {
                let panel = Panel { weights, scale: SCALE, bias: BIAS };
                let out = RowsMut { values: &mut out[first + number * LANES..], stride: self.width };
                multiply(simd, shares, panel, out);
            }
        }
    }
}
