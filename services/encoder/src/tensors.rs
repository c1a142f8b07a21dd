//! A safetensors file, read tensor by tensor so that it is never in memory twice.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::ModelError;

/// Largest header that is read, in bytes; real ones have some kilobytes.
const MAX_HEADER: u64 = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct TensorHeader {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// An open file and its table of contents.
pub(crate) struct Tensors {
    path: PathBuf,
    file: BufReader<File>,
    data: u64,
    entries: HashMap<String, TensorHeader>,
}

impl Tensors {
    /// Opens the file and checks that all its tensors lie within it.
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

    /// The numbers of a tensor that must have this shape.
    pub(crate) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let mut numbers = Vec::with_capacity(shape.iter().product());
        self.each_row(name, shape, |row| numbers.extend_from_slice(row))?;
        Ok(numbers)
    }

    /// The same, row by row.
    pub(crate) fn each_row(
        &mut self,
        name: &str,
        shape: &[usize],
        mut take: impl FnMut(&[f32]),
    ) -> Result<(), ModelError> {
        let bytes = self.find(name, shape, ("F32", 4))?;
        let unfit = |detail: &str| ModelError::unfit(&self.path, format!("tensor {name} {detail}"));
        let width = shape.last().copied().unwrap_or(1);
        let (mut row, mut raw) = (vec![0.0; width], vec![0; width * 4]);
        for _ in 0..bytes / raw.len() {
            self.file.read_exact(&mut raw).map_err(|error| ModelError::io(&self.path, error))?;
            for (number, raw) in row.iter_mut().zip(raw.as_chunks().0) {
                *number = f32::from_le_bytes(*raw);
            }
            if !row.iter().all(|number| number.is_finite()) {
                return Err(unfit("holds values that are no numbers"));
            }
            take(&row);
        }
        Ok(())
    }

    /// The bytes of a tensor of bytes that must have this shape.
    pub(crate) fn read_bytes(&mut self, name: &str, shape: &[usize]) -> Result<Vec<u8>, ModelError> {
        let mut bytes = vec![0; self.find(name, shape, ("U8", 1))?];
        self.file.read_exact(&mut bytes).map_err(|error| ModelError::io(&self.path, error))?;
        Ok(bytes)
    }

    /// Goes to the start of a tensor of this shape and type, of so many bytes a number. Returns its length in bytes.
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
