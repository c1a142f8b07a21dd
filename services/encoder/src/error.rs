//! Errors about a model folder.

use std::path::{Path, PathBuf};

/// An error about a model folder. The message includes the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The folder or one of its files is missing.
    #[error("{} is missing; a model folder holds config.json, model.safetensors and vocab.txt or tokenizer.json", .0.display())]
    Missing(PathBuf),
    /// The folder has no multilingual-e5-small.
    #[error("{} is missing; `python3 -m tools.model every-language` makes it", .0.display())]
    NoE5(PathBuf),
    /// A file exists but cannot be read.
    #[error("{} cannot be read: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A file has content that this encoder does not support.
    #[error("{} cannot be used: {detail}", .path.display())]
    Unfit {
        path: PathBuf,
        /// The content that was found, and the content that is required.
        detail: String,
    },
}

impl ModelError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::NotFound {
            return Self::Missing(path.to_owned());
        }
        Self::Unreadable { path: path.to_owned(), source }
    }

    pub(crate) fn unfit(path: &Path, detail: impl Into<String>) -> Self {
        Self::Unfit { path: path.to_owned(), detail: detail.into() }
    }
}
