//! Joins the vectors from two networks to one vector of 384 numbers. The mean vectors of ordinary texts are subtracted
//! first. The cosine of two vectors then measures by how much their texts are more similar than arbitrary texts.

use std::sync::LazyLock;

use fearless_simd::{Level, Simd, dispatch};
use half::f16;

use crate::TextKind;
use crate::linear::Linear;
use crate::math::normalise;
use crate::muse;

/// Dimensions of the first network's vectors and of the joined vectors.
pub(crate) const DIMS: usize = 384;
/// Dimensions of the vectors from both networks together.
const BOTH: usize = DIMS + muse::DIMS;

/// Constants for joining the vectors from two networks.
pub(crate) struct Constants {
    /// Name of the joined vectors. If the constants change, the name must change too: vectors with the same name are
    /// compared.
    pub(crate) name: &'static str,
    /// The constants as 16-bit floats: the two means of the first network (messages, documents), the two means of
    /// mUSE, and the join matrix, row by row. docs/operators/model.md describes how they were computed.
    floats: &'static [u8],
}

/// Constants for all-MiniLM and mUSE.
pub(crate) const MINILM_MUSE: Constants =
    Constants { name: "minilm-muse-384", floats: include_bytes!("../data/join.f16") };
/// Constants for multilingual-e5-small and mUSE.
pub(crate) const E5_MUSE: Constants = Constants { name: "e5-muse-384", floats: include_bytes!("../data/join-e5.f16") };

static MINILM: LazyLock<Pair> = LazyLock::new(|| Means::read(&MINILM_MUSE).first);

/// The means of one network, for messages and for documents.
struct Pair {
    message: Vec<f32>,
    document: Vec<f32>,
}

struct Means {
    first: Pair,
    muse: Pair,
}

impl Constants {
    fn numbers(&self) -> impl Iterator<Item = f32> {
        self.floats.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32())
    }
}

impl Means {
    fn read(constants: &Constants) -> Self {
        let mut numbers = constants.numbers();
        let mut mean = |dims: usize| -> Vec<f32> { numbers.by_ref().take(dims).collect() };
        let first = Pair { message: mean(DIMS), document: mean(DIMS) };
        Self { first, muse: Pair { message: mean(muse::DIMS), document: mean(muse::DIMS) } }
    }
}

impl Pair {
    /// Subtracts the mean for the text's kind from a vector, and normalises the result to length 1.
    fn centre(&self, vector: &mut [f32], kind: TextKind) {
        let mean = match kind {
            TextKind::Message => &self.message,
            TextKind::Document => &self.document,
        };
        vector.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
        normalise(vector);
    }
}

/// Subtracts the mean for the text's kind from a vector from all-MiniLM, and normalises the result to length 1.
pub(crate) fn centre(vector: &mut [f32], kind: TextKind) {
    MINILM.centre(vector, kind);
}

/// The means of both networks, and the matrix that joins their vectors.
pub(crate) struct Join {
    pub(crate) name: &'static str,
    means: Means,
    matrix: Linear,
    level: Level,
}

impl Join {
    pub(crate) fn new(constants: &Constants) -> Self {
        let matrix: Vec<f32> = constants.numbers().skip(2 * BOTH).collect();
        let matrix = Linear::pack(&matrix, vec![0.0; DIMS]);
        Self { name: constants.name, means: Means::read(constants), matrix, level: Level::new() }
    }

    /// Returns the joined vector, normalised to length 1. If the first network did not encode the text, its part
    /// counts as zero.
    pub(crate) fn join(&self, first: Option<Vec<f32>>, mut muse: Vec<f32>, kind: TextKind) -> Vec<f32> {
        let mut both = first.map_or_else(
            || vec![0.0; DIMS],
            |mut vector| {
                self.means.first.centre(&mut vector, kind);
                vector
            },
        );
        self.means.muse.centre(&mut muse, kind);
        both.append(&mut muse);
        let mut vector = vec![0.0; DIMS];
        dispatch!(self.level, simd => simd.vectorize(#[inline(always)] || self.matrix.apply_one(simd, &both, &mut vector)));
        normalise(&mut vector);
        vector
    }
}

#[cfg(test)]
mod tests;
