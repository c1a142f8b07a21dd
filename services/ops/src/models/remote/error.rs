//! Errors from a model's server.

use knowhow_telemetry::metrics::Asked;
use serde_json::error::Category;

/// An error from the server. `Display` is for the log, and never quotes the request.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// A setting is invalid.
    #[error("{0}")]
    Setting(String),
    /// The deadline has passed.
    #[error("no answer by the deadline")]
    Late,
    /// The server failed repeatedly, so requests are paused.
    #[error("the server failed repeatedly; requests are paused for {0} s")]
    Paused(u64),
    /// The server could not be reached, or closed the connection.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server did not answer within the timeout.
    #[error("the server cannot be reached: {0}")]
    Silent(String),
    /// The server answered with an error.
    #[error("the server answered {status}: {reason}")]
    Refused {
        status: u16,
        /// The server's error code, or the meaning of the status.
        reason: String,
        /// The server's message, truncated. It may quote the request.
        detail: String,
    },
    /// The server answered 200 with an invalid body.
    #[error("the server's answer cannot be used: {0}")]
    BadAnswer(String),
    /// The server answered with valid JSON of an unexpected form.
    #[error("the server's answer cannot be used: {0}")]
    Unfit(String),
}

impl RemoteError {
    /// Returns the outcome under which the metrics count this error.
    pub(super) fn outcome(&self) -> Asked {
        match self {
            Self::Late | Self::Silent(_) => Asked::Timeout,
            Self::Refused { .. } => Asked::Refused,
            Self::BadAnswer(_) | Self::Unfit(_) => Asked::Unreadable,
            Self::Setting(_) | Self::Paused(_) | Self::Unreachable(_) => Asked::Error,
        }
    }

    /// Returns whether a retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Late | Self::Paused(_) | Self::Unreachable(_) | Self::Silent(_) => true,
            Self::Refused { status, .. } => *status == 408 || *status == 429 || *status >= 500,
            // A retry would most likely get the same answer, at the same cost.
            Self::Setting(_) | Self::BadAnswer(_) | Self::Unfit(_) => false,
        }
    }

    /// Returns whether the server is at fault, so that other requests would fail too. A server that rejects a
    /// request, or answers it with unusable content, is working: a text that confuses the model must not pause the
    /// model for all users.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Silent(_) | Self::BadAnswer(_) => true,
            Self::Refused { .. } => self.is_transient(),
            Self::Setting(_) | Self::Late | Self::Paused(_) | Self::Unfit(_) => false,
        }
    }

    /// Converts a parse error: the answer is not JSON, or is JSON of an unexpected form.
    pub(crate) fn unread(error: &serde_json::Error) -> Self {
        match error.classify() {
            Category::Data => Self::Unfit(complaint(error)),
            Category::Eof | Category::Syntax | Category::Io => Self::BadAnswer(complaint(error)),
        }
    }
}

/// Describes a JSON error without quoting the JSON.
pub(crate) fn complaint(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Data => "JSON of another form",
        Category::Eof => "JSON that breaks off",
        Category::Syntax | Category::Io => "no JSON",
    };
    format!("{what} at line {} column {}", error.line(), error.column())
}
