//! Why a folder is no model that can be used.

use std::path::{Path, PathBuf};

/// What is wrong with a model folder; `Display` says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The folder or one of its files is not there.
    #[error("{} is missing; a model folder holds config.json, model.safetensors and vocab.txt or tokenizer.json", .0.display())]
    Missing(PathBuf),
    /// A file is there and cannot be read.
    #[error("{} cannot be read: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file holds something else than this encoder can use.
    #[error("{} cannot be used: {detail}", .path.display())]
    Unfit {
        path: PathBuf,
        /// What was found, and what it should be.
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
