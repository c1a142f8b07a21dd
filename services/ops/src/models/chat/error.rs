//! Errors from a chat model.

use knowhow_domain::Error;

use crate::models::remote::RemoteError;

/// An error from a chat model. `Display` is for the log, and quotes neither prompt nor answer.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The request failed.
    #[error("chat model: {0}")]
    Remote(#[from] RemoteError),
    /// The answer is empty, or contains only thoughts.
    #[error("the chat model's answer is empty")]
    Empty,
    /// The answer exceeds the limit.
    #[error("the chat model's answer is too long")]
    TooLong,
    /// The answer does not have the required form.
    #[error("the chat model's answer cannot be used: {0}")]
    Unfit(String),
}

impl ChatError {
    /// Returns whether a retry may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Remote(error) if error.is_transient())
    }
}

impl From<ChatError> for Error {
    /// Converts to an error without the message from the model's server, which callers must not see.
    fn from(_: ChatError) -> Self {
        Self::Unavailable("the chat model is not responding; try again later".to_owned())
    }
}
