//! A layer of the model: attention among the tokens of each text, then a feed-forward network for each token.

use fearless_simd::Simd;

use super::{Scratch, read_linear, read_norm};
use crate::error::ModelError;
use crate::linear::{Linear, Passing};
use crate::math::{Norm, gelu};
use crate::settings::Shape;
use crate::tensors::Tensors;

pub(super) struct Layer {
    attention: Linear,
    attention_out: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

impl Layer {
    pub(super) fn read(file: &mut Tensors, number: usize, shape: &Shape) -> Result<Self, ModelError> {
        let (width, at) = (shape.hidden, format!("encoder.layer.{number}"));
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            // Attention divides its scores by this number. Dividing the weights of the queries once has the same
            // effect.
            let divisor = if part == "query" { ((width / shape.heads) as f32).sqrt() } else { 1.0 };
            let name = format!("{at}.attention.self.{part}");
            weights.extend(file.read(&format!("{name}.weight"), &[width, width])?.iter().map(|value| value / divisor));
            bias.extend(file.read(&format!("{name}.bias"), &[width])?.iter().map(|value| value / divisor));
        }
        Ok(Self {
            attention: Linear::pack(&weights, bias),
            attention_out: read_linear(file, &format!("{at}.attention.output.dense"), [width, width])?,
            attention_norm: read_norm(file, &format!("{at}.attention.output"), shape)?,
            up: read_linear(file, &format!("{at}.intermediate.dense"), [shape.inner, width])?,
            down: read_linear(file, &format!("{at}.output.dense"), [width, shape.inner])?,
            norm: read_norm(file, &format!("{at}.output"), shape)?,
        })
    }

    #[inline(always)]
    pub(super) fn attend<S: Simd>(&self, simd: S, texts: &[&[u32]], scratch: &mut Scratch) {
        self.attention
            .apply(simd, Passing { input: &scratch.hidden, out: &mut scratch.triple, room: &mut scratch.panel });
        let width = self.norm.gain.len();
        let (mut triples, mut outs) = (&scratch.triple[..], &mut scratch.attended[..]);
        for text in texts {
            let (triple, triples_after) = triples.split_at(text.len() * 3 * width);
            let (out, outs_after) = outs.split_at_mut(text.len() * width);
            scratch.attention.run(simd, triple, out);
            (triples, outs) = (triples_after, outs_after);
        }
        self.attention_out
            .apply(simd, Passing { input: &scratch.attended, out: &mut scratch.change, room: &mut scratch.panel });
        self.attention_norm.add(&mut scratch.hidden, &scratch.change);
    }

    #[inline(always)]
    pub(super) fn think<S: Simd>(&self, simd: S, scratch: &mut Scratch) {
        self.up.apply(simd, Passing { input: &scratch.hidden, out: &mut scratch.inner, room: &mut scratch.panel });
        gelu(&mut scratch.inner);
        self.down.apply(simd, Passing { input: &scratch.inner, out: &mut scratch.change, room: &mut scratch.panel });
        self.norm.add(&mut scratch.hidden, &scratch.change);
    }
}
