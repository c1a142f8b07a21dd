//! The model: read once, then shared by all threads.

mod layer;

use std::path::Path;

use fearless_simd::{Level, Simd, dispatch};

use crate::attention::Attention;
use crate::error::ModelError;
use crate::linear::{LANES, Linear, shorten};
use crate::math::{Norm, normalise};
use crate::settings::{Settings, Shape};
use crate::tensors::Tensors;
use crate::wordpiece::WordPiece;
use layer::Layer;

pub struct Encoder {
    shape: Shape,
    max_tokens: usize,
    tokenizer: WordPiece,
    words: Vec<i16>,
    word_scales: Vec<f32>,
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    level: Level,
}

/// A text as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens(Vec<u32>);

impl Tokens {
    /// The ids of its tokens, in their order.
    pub fn ids(&self) -> &[u32] {
        &self.0
    }
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

/// Texts that the model reads together.
struct Batch<'a> {
    texts: &'a [Tokens],
    scratch: &'a mut Scratch,
    /// Called before each layer.
    pause: &'a mut dyn FnMut(),
}

impl Encoder {
    /// Reads a model folder: `config.json`, `model.safetensors`, and `vocab.txt` or `tokenizer.json`.
    ///
    /// # Errors
    /// Where a file is missing, damaged, or of a model that is built otherwise.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let settings = Settings::read(folder)?;
        let tokenizer = WordPiece::read(folder, &settings)?;
        let mut file = Tensors::open(&folder.join("model.safetensors"))?;
        let Settings { shape, max_tokens, .. } = settings;
        let width = shape.hidden;
        let (mut words, mut word_scales) = (Vec::with_capacity(shape.words * width), Vec::with_capacity(shape.words));
        file.each_row("embeddings.word_embeddings.weight", &[shape.words, width], |row| {
            word_scales.push(shorten(row, &mut words));
        })?;
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
        let level = Level::new();
        Ok(Self { shape, max_tokens, tokenizer, words, word_scales, positions, norm, layers, level })
    }

    /// Numbers of a vector.
    pub fn dims(&self) -> usize {
        self.shape.hidden
    }

    /// Tokens a text is cut at, the two that frame it included.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Bytes of a text that are looked at, at most.
    pub fn max_bytes(&self) -> usize {
        self.tokenizer.max_bytes()
    }

    /// The token ids of a text, framed and cut.
    pub fn tokens(&self, text: &str) -> Tokens {
        Tokens(self.tokenizer.ids(text))
    }

    /// Vectors of length 1 for texts as [`Encoder::tokens`] makes them. Before each layer of the model `pause` is
    /// called: the place for work that is more urgent.
    pub fn encode(&self, texts: &[Tokens], pause: &mut dyn FnMut()) -> Vec<Vec<f32>> {
        if texts.is_empty() {
            return Vec::new();
        }
        let total = texts.iter().map(|text| text.0.len()).sum();
        let longest = texts.iter().map(|text| text.0.len()).max().unwrap_or(0);
        let mut scratch = Scratch::new(&self.shape, total, longest);
        let batch = Batch { texts, scratch: &mut scratch, pause };
        dispatch!(self.level, simd => self.run(simd, batch));
        let mut rest = &scratch.hidden[..];
        texts
            .iter()
            .map(|text| {
                let (rows, after) = rest.split_at(text.0.len() * self.dims());
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

    /// What each token means by itself and where it stands.
    fn look_up(&self, texts: &[Tokens], hidden: &mut [f32]) {
        let width = self.dims();
        let tokens = texts.iter().flat_map(|text| text.0.iter().enumerate());
        for (row, (position, &id)) in hidden.chunks_exact_mut(width).zip(tokens) {
            let id = id as usize;
            let (word, scale) = (&self.words[id * width..][..width], self.word_scales[id]);
            let position = &self.positions[position * width..][..width];
            for ((value, word), position) in row.iter_mut().zip(word).zip(position) {
                *value = f32::from(*word) * scale + position;
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
