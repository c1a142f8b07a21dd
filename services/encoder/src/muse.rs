//! Google's multilingual Universal Sentence Encoder, version 3. It computes the mean of word vectors and n-gram
//! convolutions, and passes it through four dense layers.

use std::path::Path;

use fearless_simd::{Level, Simd, dispatch};

use crate::error::ModelError;
use crate::linear::{LANES, Linear, Rows, RowsMut};
use crate::math::{Norm, normalise};
use crate::sentencepiece::SentencePiece;
use crate::tensors::Tensors;

/// Dimensions of the vectors.
pub(crate) const DIMS: usize = 512;
/// Maximum number of tokens in a text, including the first and the last token. Further tokens are cut.
const MAX_TOKENS: usize = 256;
/// Number of parts in the table of word vectors. The vector for a token is in row `id / PARTS` of part `id % PARTS`.
const PARTS: usize = 17;
/// Number of rows in each part.
const PART_ROWS: usize = 7530;
/// Number of channels of a convolution.
const CHANNELS: usize = 256;
/// Widths of the convolutions in tokens, each with the number of tokens before the current one.
const ORDERS: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];
/// Count of numbers per token before the sum: the word vector and the channels of all convolutions.
const FEATURES: usize = DIMS + ORDERS.len() * CHANNELS;
/// Number of inputs to the largest layer that reads several rows.
const LARGEST_WINDOW: usize = 5 * CHANNELS;
/// Width of the dense layers.
const DENSE: usize = 320;

pub(crate) struct Muse {
    tokenizer: SentencePiece,
    parts: Vec<Part>,
    projection: Linear,
    projection_norm: Norm,
    convolutions: Vec<Convolution>,
    norm: Norm,
    sum: Linear,
    dense: Dense,
    level: Level,
}

/// A part of the table of word vectors. A stored number is decoded as `values[..] * scale + offset`.
struct Part {
    values: Vec<u8>,
    scale: f32,
    offset: f32,
}

/// Two convolutions. The result of each is added to its input.
struct Convolution {
    order: usize,
    before: usize,
    first: Linear,
    second: Linear,
}

/// The dense layers: `tanh(y·skip_out + relu(y·up)·out)`, with `y = relu(x·skip_in + relu(x·first)·second)`.
struct Dense {
    first: Linear,
    second: Linear,
    skip_in: Linear,
    up: Linear,
    out: Linear,
    skip_out: Linear,
}

impl Muse {
    /// Reads a folder with `weights.safetensors` and `sentencepiece.model`.
    pub(crate) fn open(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("sentencepiece.model");
        let tokenizer = SentencePiece::read(&path)?;
        if tokenizer.len() > PARTS * PART_ROWS {
            return Err(ModelError::unfit(&path, format!("it has more than {} pieces", PARTS * PART_ROWS)));
        }
        let mut file = Tensors::open(&folder.join("weights.safetensors"))?;
        let epsilon = file.read("eps", &[1])?[0];
        let (scales, offsets) = (file.read("scale", &[PARTS])?, file.read("lo", &[PARTS])?);
        let parts = scales.into_iter().zip(offsets).enumerate().map(|(at, (scale, offset))| {
            let values = file.read_bytes(&format!("q{}", at + 1), &[PART_ROWS, DIMS])?;
            Ok(Part { values, scale, offset })
        });
        let parts = parts.collect::<Result<_, ModelError>>()?;
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        let (mut gain, mut offset) = (Vec::new(), Vec::new());
        for (order, _) in ORDERS {
            weights.extend(read_turned(&mut file, &format!("proj{order}"), DIMS, CHANNELS)?);
            bias.extend(file.read(&format!("proj_b{order}"), &[CHANNELS])?);
            gain.extend(file.read(&format!("ln_g{order}"), &[CHANNELS])?);
            offset.extend(file.read(&format!("ln_b{order}"), &[CHANNELS])?);
        }
        Ok(Self {
            tokenizer,
            parts,
            projection: Linear::pack(&weights, bias),
            projection_norm: Norm { gain, offset, epsilon },
            convolutions: ORDERS
                .map(|order| Convolution::read(&mut file, order))
                .into_iter()
                .collect::<Result<_, _>>()?,
            norm: Norm { gain: file.read("ln_g", &[FEATURES])?, offset: file.read("ln_b", &[FEATURES])?, epsilon },
            sum: read_linear(&mut file, ["cnn_W", "cnn_b"], [FEATURES, DIMS])?,
            dense: Dense {
                first: read_without_bias(&mut file, "d0", DIMS, DENSE)?,
                second: read_without_bias(&mut file, "d1", DENSE, DENSE)?,
                skip_in: read_without_bias(&mut file, "p1", DIMS, DENSE)?,
                up: read_without_bias(&mut file, "d2", DENSE, DIMS)?,
                out: read_without_bias(&mut file, "d3", DIMS, DIMS)?,
                skip_out: read_without_bias(&mut file, "p3", DENSE, DIMS)?,
            },
            level: Level::new(),
        })
    }

    /// Returns the token ids for a text, with the special first and last token. Further tokens are cut.
    pub(crate) fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.ids(text, MAX_TOKENS)
    }

    /// Returns the vector for a text, normalised to length 1.
    pub(crate) fn encode(&self, ids: &[u32]) -> Vec<f32> {
        dispatch!(self.level, simd => simd.vectorize(#[inline(always)] || self.run(simd, ids)))
    }

    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, ids: &[u32]) -> Vec<f32> {
        let count = ids.len();
        let mut room = vec![0.0; LARGEST_WINDOW * LANES];
        let mut words = vec![0.0; count * DIMS];
        self.look_up(ids, &mut words);
        let mut projected = vec![0.0; count * ORDERS.len() * CHANNELS];
        let projection = (rows(&words, DIMS), to(&mut projected, ORDERS.len() * CHANNELS));
        self.projection.apply_rows(simd, projection, &mut room);
        self.projection_norm.apply(&mut projected);
        let mut features = vec![0.0; count * FEATURES];
        for (row, word) in features.chunks_exact_mut(FEATURES).zip(words.chunks_exact(DIMS)) {
            row[..DIMS].copy_from_slice(word);
        }
        for (at, convolution) in self.convolutions.iter().enumerate() {
            let input = projected.chunks_exact(ORDERS.len() * CHANNELS).map(|row| &row[at * CHANNELS..][..CHANNELS]);
            let result = convolution.run(simd, input, &mut room);
            for (row, channels) in features.chunks_exact_mut(FEATURES).zip(result.chunks_exact(CHANNELS)) {
                row[DIMS + at * CHANNELS..][..CHANNELS].copy_from_slice(channels);
            }
        }
        self.norm.apply(&mut features);
        // The matrix product is linear, so the rows are summed first and only one row is multiplied.
        let mut total = vec![0.0; FEATURES];
        for row in features.chunks_exact(FEATURES) {
            for (sum, value) in total.iter_mut().zip(row) {
                *sum += value / count as f32;
            }
        }
        let mut mean = multiply(simd, &self.sum, &total);
        let root = (count as f32).sqrt();
        mean.iter_mut().for_each(|value| *value *= root);
        self.dense.run(simd, &mean)
    }

    /// Writes the vector for each token into `words`.
    #[inline(always)]
    fn look_up(&self, ids: &[u32], words: &mut [f32]) {
        for (row, &id) in words.chunks_exact_mut(DIMS).zip(ids) {
            let part = &self.parts[id as usize % PARTS];
            let values = &part.values[id as usize / PARTS * DIMS..][..DIMS];
            for (number, value) in row.iter_mut().zip(values) {
                *number = f32::from(*value) * part.scale + part.offset;
            }
        }
    }
}

impl Convolution {
    fn read(file: &mut Tensors, (order, before): (usize, usize)) -> Result<Self, ModelError> {
        let mut layer = |number: usize| {
            let (weights, bias) = (format!("w{number}_{order}"), format!("b{number}_{order}"));
            read_linear(file, [&weights, &bias], [order * CHANNELS, CHANNELS])
        };
        Ok(Self { order, before, first: layer(1)?, second: layer(2)? })
    }

    #[inline(always)]
    fn run<'a, S: Simd>(&self, simd: S, input: impl ExactSizeIterator<Item = &'a [f32]>, room: &mut [f32]) -> Vec<f32> {
        let count = input.len();
        // Rows of zeros before and after the text make each window one slice.
        let mut padded = vec![0.0; (count + self.order - 1) * CHANNELS];
        for (row, from) in padded[self.before * CHANNELS..].chunks_exact_mut(CHANNELS).zip(input) {
            row.copy_from_slice(from);
        }
        let mut result = vec![0.0; count * CHANNELS];
        for layer in [&self.first, &self.second] {
            let windows = Rows { values: &padded, stride: CHANNELS, count };
            layer.apply_rows(simd, (windows, to(&mut result, CHANNELS)), room);
            let own = &mut padded[self.before * CHANNELS..][..count * CHANNELS];
            for (value, change) in own.iter_mut().zip(&result) {
                *value += change.max(0.0);
            }
        }
        result.copy_from_slice(&padded[self.before * CHANNELS..][..count * CHANNELS]);
        result
    }
}

impl Dense {
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, input: &[f32]) -> Vec<f32> {
        let hidden = relu(multiply(simd, &self.first, input));
        let mut middle = multiply(simd, &self.second, &hidden);
        add(&mut middle, &multiply(simd, &self.skip_in, input));
        let middle = relu(middle);
        let hidden = relu(multiply(simd, &self.up, &middle));
        let mut vector = multiply(simd, &self.out, &hidden);
        add(&mut vector, &multiply(simd, &self.skip_out, &middle));
        vector.iter_mut().for_each(|value| *value = value.tanh());
        normalise(&mut vector);
        vector
    }
}

/// Multiplies one row with the layer's weights.
#[inline(always)]
fn multiply<S: Simd>(simd: S, layer: &Linear, input: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; layer.outputs()];
    layer.apply_one(simd, input, &mut out);
    out
}

#[inline(always)]
fn relu(mut values: Vec<f32>) -> Vec<f32> {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
    values
}

#[inline(always)]
fn add(values: &mut [f32], more: &[f32]) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
}

fn rows(values: &[f32], width: usize) -> Rows<'_> {
    Rows { values, stride: width, count: values.len() / width }
}

fn to(values: &mut [f32], stride: usize) -> RowsMut<'_> {
    RowsMut { values, stride }
}

fn read_linear(
    file: &mut Tensors,
    [weights, bias]: [&str; 2],
    [inputs, outputs]: [usize; 2],
) -> Result<Linear, ModelError> {
    Ok(Linear::pack(&read_turned(file, weights, inputs, outputs)?, file.read(bias, &[outputs])?))
}

fn read_without_bias(file: &mut Tensors, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
    Ok(Linear::pack(&read_turned(file, name, inputs, outputs)?, vec![0.0; outputs]))
}

/// Reads a matrix with one row per input, and returns it transposed, with one row per output.
fn read_turned(file: &mut Tensors, name: &str, inputs: usize, outputs: usize) -> Result<Vec<f32>, ModelError> {
    let weights = file.read(name, &[inputs, outputs])?;
    let column = |output: usize| weights.iter().skip(output).step_by(outputs);
    Ok((0..outputs).flat_map(column).copied().collect())
}
