//! Joins the vectors of two networks to one of 384 numbers. The means of ordinary texts are taken off before, so that the
//! cosine of two texts says what they share beyond what all texts share.

use std::sync::LazyLock;

use fearless_simd::{Level, Simd, dispatch};
use half::f16;

use crate::TextKind;
use crate::linear::Linear;
use crate::math::normalise;
use crate::muse;

/// Numbers of a vector of all-MiniLM, and of the joined vector.
pub(crate) const DIMS: usize = 384;
const BOTH: usize = DIMS + muse::DIMS;

/// 16-bit floats: the means of all-MiniLM for messages and for documents, those of mUSE, and the matrix of the join, row
/// by row. docs/model.md says how they were made.
const CONSTANTS: &[u8] = include_bytes!("../data/join.f16");

static MEANS: LazyLock<Means> = LazyLock::new(Means::read);

/// The means of one network for messages and for documents.
struct Pair {
    message: Vec<f32>,
    document: Vec<f32>,
}

struct Means {
    minilm: Pair,
    muse: Pair,
}

impl Means {
    fn read() -> Self {
        let mut numbers = numbers();
        let mut mean = |dims: usize| -> Vec<f32> { numbers.by_ref().take(dims).collect() };
        let minilm = Pair { message: mean(DIMS), document: mean(DIMS) };
        Self { minilm, muse: Pair { message: mean(muse::DIMS), document: mean(muse::DIMS) } }
    }
}

impl Pair {
    /// Takes the mean off a vector, and brings it to length 1.
    fn centre(&self, vector: &mut [f32], kind: TextKind) {
        let mean = match kind {
            TextKind::Message => &self.message,
            TextKind::Document => &self.document,
        };
        vector.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
        normalise(vector);
    }
}

/// Takes the mean off a vector of all-MiniLM.
pub(crate) fn centre(vector: &mut [f32], kind: TextKind) {
    MEANS.minilm.centre(vector, kind);
}

/// The matrix from the vectors of both networks to the joined one.
pub(crate) struct Join {
    matrix: Linear,
    level: Level,
}

impl Join {
    pub(crate) fn new() -> Self {
        let matrix: Vec<f32> = numbers().skip(2 * BOTH).collect();
        Self { matrix: Linear::pack(&matrix, vec![0.0; DIMS]), level: Level::new() }
    }

    /// Returns the joined vector, of length 1. Without a vector of all-MiniLM, which only English texts have, its part
    /// is zero.
    pub(crate) fn join(&self, minilm: Option<Vec<f32>>, mut muse: Vec<f32>, kind: TextKind) -> Vec<f32> {
        let mut both = minilm.map_or_else(
            || vec![0.0; DIMS],
            |mut vector| {
                centre(&mut vector, kind);
                vector
            },
        );
        MEANS.muse.centre(&mut muse, kind);
        both.append(&mut muse);
        let mut vector = vec![0.0; DIMS];
        dispatch!(self.level, simd => simd.vectorize(#[inline(always)] || self.matrix.apply_one(simd, &both, &mut vector)));
        normalise(&mut vector);
        vector
    }
}

fn numbers() -> impl Iterator<Item = f32> {
    CONSTANTS.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32())
}
