//! Reads a safetensors file tensor by tensor, so that the weights are never in memory twice.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::blocks::{packed_len, unpack};
use crate::error::ModelError;

/// Maximum size of a header in bytes. Real headers have a size of some kilobytes.
const MAX_HEADER: u64 = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct TensorHeader {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// An open safetensors file and its table of contents.
pub(crate) struct Tensors {
    path: PathBuf,
    file: BufReader<File>,
    data: u64,
    entries: HashMap<String, TensorHeader>,
}

impl Tensors {
    /// Opens a file, and checks that all tensors lie within it.
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let failed = |error| ModelError::io(path, error);
        let short = |_| ModelError::unfit(path, "it is cut short or no safetensors file");
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut file = BufReader::new(file);
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(short)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER.min(size.saturating_sub(8)) {
            return Err(ModelError::unfit(path, "it is cut short or no safetensors file"));
        }
        let mut header = Vec::new();
        (&mut file).take(length).read_to_end(&mut header).map_err(failed)?;
        let table: HashMap<String, Value> =
            serde_json::from_slice(&header).map_err(|error| ModelError::unfit(path, error.to_string()))?;
        let mut entries = HashMap::new();
        for (name, value) in table.into_iter().filter(|(name, _)| name != "__metadata__") {
            let entry: TensorHeader =
                serde_json::from_value(value).map_err(|error| ModelError::unfit(path, format!("{name}: {error}")))?;
            let [begin, end] = entry.data_offsets;
            if begin > end || end > size - 8 - length {
                return Err(ModelError::unfit(path, format!("it is cut short: {name} ends beyond the file")));
            }
            entries.insert(name, entry);
        }
        Ok(Self { path: path.to_owned(), file, data: 8 + length, entries })
    }

    /// Reads the numbers of a tensor. Fails if the tensor has another shape.
    pub(crate) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let mut numbers = Vec::with_capacity(shape.iter().product());
        self.each_row(name, shape, |row| numbers.extend_from_slice(row))?;
        Ok(numbers)
    }

    /// Calls `take` with each row of a tensor. A matrix of bytes is unpacked from blocks of 4-bit numbers.
    pub(crate) fn each_row(
        &mut self,
        name: &str,
        shape: &[usize],
        mut take: impl FnMut(&[f32]),
    ) -> Result<(), ModelError> {
        let width = shape.last().copied().unwrap_or(1);
        let is_packed = self.is_packed(name);
        let (bytes, row_bytes) = match shape {
            [rows, _] if is_packed => (self.find(name, &[*rows, packed_len(width)], ("U8", 1))?, packed_len(width)),
            _ => (self.find(name, shape, ("F32", 4))?, width * 4),
        };
        let unfit = |detail: &str| ModelError::unfit(&self.path, format!("tensor {name} {detail}"));
        let (mut row, mut raw) = (vec![0.0; width], vec![0; row_bytes]);
        for _ in 0..bytes / row_bytes {
            self.file.read_exact(&mut raw).map_err(|error| ModelError::io(&self.path, error))?;
            if is_packed {
                unpack(&raw, &mut row);
            } else {
                for (number, raw) in row.iter_mut().zip(raw.as_chunks().0) {
                    *number = f32::from_le_bytes(*raw);
                }
            }
            if !row.iter().all(|number| number.is_finite()) {
                return Err(unfit("holds values that are no numbers"));
            }
            take(&row);
        }
        Ok(())
    }

    /// Returns whether a tensor is stored as bytes.
    pub(crate) fn is_packed(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.dtype == "U8")
    }

    /// Reads a tensor of bytes. Fails if the tensor has another shape.
    pub(crate) fn read_bytes(&mut self, name: &str, shape: &[usize]) -> Result<Vec<u8>, ModelError> {
        let mut bytes = vec![0; self.find(name, shape, ("U8", 1))?];
        self.file.read_exact(&mut bytes).map_err(|error| ModelError::io(&self.path, error))?;
        Ok(bytes)
    }

    /// Seeks to the start of a tensor, and returns its length in bytes. Fails if the tensor has another shape or type.
    /// `size` is the number of bytes per number.
    fn find(&mut self, name: &str, shape: &[usize], (dtype, size): (&str, usize)) -> Result<usize, ModelError> {
        let unfit = |detail: &str| ModelError::unfit(&self.path, format!("tensor {name} {detail}"));
        let entry = self.entries.get(name).ok_or_else(|| unfit("is missing"))?;
        if entry.shape != shape || entry.dtype != dtype {
            return Err(unfit(&format!("is {} {:?}, must be {dtype} {shape:?}", entry.dtype, entry.shape)));
        }
        let [begin, end] = entry.data_offsets;
        let bytes = shape.iter().product::<usize>() * size;
        if end - begin != bytes as u64 {
            return Err(unfit(&format!("has {} bytes, must have {bytes}", end - begin)));
        }
        self.file.seek(SeekFrom::Start(self.data + begin)).map_err(|error| ModelError::io(&self.path, error))?;
        Ok(bytes)
    }
}
