//! Errors during embedding.

use std::sync::Arc;

use knowhow_domain::Error;
use knowhow_encoder::ModelError;

use crate::models::remote::RemoteError;

/// An error during embedding; `Display` is for the log. Cheap to clone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    /// No model is configured.
    #[error("no embeddings model is configured")]
    NoModel,
    /// The model's folder cannot be used.
    #[error(transparent)]
    Model(Arc<ModelError>),
    /// A setting is invalid.
    #[error("{0}")]
    Setting(String),
    /// The queue is full.
    #[error("the queue of the embeddings model is full, with {0} texts")]
    Busy(usize),
    /// The request has more texts than the queue can hold.
    #[error("at most {0} texts can be embedded at once")]
    TooMany(usize),
    /// The deadline has passed.
    #[error("no vector by the deadline")]
    Late,
    /// The embedder stopped, at shutdown or after a bug.
    #[error("the embedder stopped")]
    Stopped,
    /// The server returned no vectors.
    #[error("embeddings: {0}")]
    Remote(Arc<RemoteError>),
}

impl EmbedError {
    /// Returns whether a retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Busy(_) | Self::Late | Self::Stopped => true,
            Self::Remote(error) => error.is_transient(),
            Self::NoModel | Self::Model(_) | Self::Setting(_) | Self::TooMany(_) => false,
        }
    }
}

impl From<ModelError> for EmbedError {
    fn from(error: ModelError) -> Self {
        Self::Model(Arc::new(error))
    }
}

impl From<RemoteError> for EmbedError {
    fn from(error: RemoteError) -> Self {
        Self::Remote(Arc::new(error))
    }
}

impl From<EmbedError> for Error {
    /// Hides the details of the model's server from callers.
    fn from(_: EmbedError) -> Self {
        Self::Unavailable("embeddings are temporarily unavailable; try again later".to_owned())
    }
}
