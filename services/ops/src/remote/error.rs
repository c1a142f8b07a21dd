//! Why a model's server gave no answer.

use serde_json::error::Category;

/// What went wrong; `Display` is for the log, and quotes nothing of what was asked.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// A setting that cannot work.
    #[error("{0}")]
    Setting(String),
    /// The deadline came first.
    #[error("no answer by the deadline")]
    Late,
    /// The server is left alone for a while after it failed repeatedly.
    #[error("the server failed repeatedly and is left alone for {0} s")]
    Paused(u64),
    /// The server could not be reached or broke off.
    #[error("the server is out of reach: {0}")]
    Unreachable(String),
    /// The server answered with an error.
    #[error("the server answered {status}: {reason}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The server's code for it, or what the status means.
        reason: String,
        /// What it said, cut short. It may quote the question.
        detail: String,
    },
    /// The server answered 200 with something that is no answer.
    #[error("the server's answer cannot be used: {0}")]
    BadAnswer(String),
}

impl RemoteError {
    /// Whether the same may work later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Late | Self::Paused(_) | Self::Unreachable(_) => true,
            Self::Refused { status, .. } => *status == 408 || *status == 429 || *status >= 500,
            Self::Setting(_) | Self::BadAnswer(_) => false,
        }
    }

    /// An answer in which JSON is not as it should be.
    pub(crate) fn unfit(error: &serde_json::Error) -> Self {
        Self::BadAnswer(complaint(error))
    }
}

/// What is wrong with JSON, without a word of it.
pub(crate) fn complaint(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Data => "JSON of another form",
        Category::Eof => "JSON that breaks off",
        Category::Syntax | Category::Io => "no JSON",
    };
    format!("{what} at line {} column {}", error.line(), error.column())
}
