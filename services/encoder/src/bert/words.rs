//! The table of word vectors, stored as 16-bit integers or as the file's blocks of 4-bit numbers.

use crate::blocks::{packed_len, unpack};
use crate::error::ModelError;
use crate::linear::shorten;
use crate::settings::Shape;
use crate::tensors::Tensors;

const NAME: &str = "embeddings.word_embeddings.weight";

pub(super) enum Words {
    /// 16-bit integers, with a scale for each row.
    Short { values: Vec<i16>, scales: Vec<f32> },
    /// The file's blocks. They stay packed, because a multilingual vocabulary has three quarters of all numbers in the
    /// model.
    Packed(Vec<u8>),
}

impl Words {
    pub(super) fn read(file: &mut Tensors, shape: &Shape) -> Result<Self, ModelError> {
        let (rows, width) = (shape.words, shape.hidden);
        if file.is_packed(NAME) {
            return Ok(Self::Packed(file.read_bytes(NAME, &[rows, packed_len(width)])?));
        }
        let (mut values, mut scales) = (Vec::with_capacity(rows * width), Vec::with_capacity(rows));
        file.each_row(NAME, &[rows, width], |row| scales.push(shorten(row, &mut values)))?;
        Ok(Self::Short { values, scales })
    }

    /// Writes the vector of the word with this id into `row`.
    pub(super) fn look_up(&self, id: usize, row: &mut [f32]) {
        let width = row.len();
        match self {
            Self::Short { values, scales } => {
                for (number, value) in row.iter_mut().zip(&values[id * width..][..width]) {
                    *number = f32::from(*value) * scales[id];
                }
            }
            Self::Packed(blocks) => unpack(&blocks[id * packed_len(width)..][..packed_len(width)], row),
        }
    }
}
