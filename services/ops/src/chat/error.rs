//! Why a chat model gave no answer.

use knowhow_domain::Error;

use crate::remote::RemoteError;

/// What went wrong; `Display` is for the log, and quotes nothing of question or answer.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The server gave no answer.
    #[error("chat model: {0}")]
    Remote(#[from] RemoteError),
    /// Nothing was said, or only thoughts.
    #[error("the chat model's answer is empty")]
    Empty,
    /// More was said than was asked for.
    #[error("the chat model's answer is too long")]
    TooLong,
    /// The answer has another form than was asked for.
    #[error("the chat model's answer cannot be used: {0}")]
    Unfit(String),
}

impl ChatError {
    /// Whether the same may work later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Remote(error) if error.is_transient())
    }
}

impl From<ChatError> for Error {
    /// Callers learn that there is no answer, not what the model's server said.
    fn from(_: ChatError) -> Self {
        Self::Unavailable("the chat model does not answer now; try again later".to_owned())
    }
}
