//! Why there is no vector.

use std::sync::Arc;

use knowhow_domain::Error;
use knowhow_encoder::ModelError;

use crate::remote::RemoteError;

/// What went wrong; `Display` is for the log. Cheap to clone.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    /// No model is configured, or it cannot be used.
    #[error("there is no embeddings model")]
    NoModel,
    /// The model's folder cannot be used.
    #[error(transparent)]
    Model(Arc<ModelError>),
    /// A setting that cannot work.
    #[error("{0}")]
    Setting(String),
    /// Too many texts wait already.
    #[error("{0} texts wait to be embedded already")]
    Busy(usize),
    /// More texts at once than can ever wait.
    #[error("at most {0} texts can be embedded at once")]
    TooMany(usize),
    /// The deadline came first.
    #[error("no vector by the deadline")]
    Late,
    /// The embedder gave up, at shutdown or over a defect.
    #[error("the embedder stopped")]
    Stopped,
    /// The server gave no vectors.
    #[error("embeddings: {0}")]
    Remote(Arc<RemoteError>),
}

impl EmbedError {
    /// Whether the same may work later.
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
    /// Callers learn that there are no embeddings, not what the model's server said.
    fn from(_: EmbedError) -> Self {
        Self::Unavailable("embeddings cannot be made now; try again later".to_owned())
    }
}
