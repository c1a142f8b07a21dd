//! Why a model's server gave no answer.

use knowhow_telemetry::metrics::Asked;
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
    /// The server did not answer in the time that it is given.
    #[error("the server is out of reach: {0}")]
    Silent(String),
    /// The server answered with an error.
    #[error("the server answered {status}: {reason}")]
    Refused {
        status: u16,
        /// The server's code for it, or what the status means.
        reason: String,
        /// What it said, cut short. It may quote the question.
        detail: String,
    },
    /// The server answered 200 with something that is no answer.
    #[error("the server's answer cannot be used: {0}")]
    BadAnswer(String),
    /// The server answered whole and in JSON, but not what was asked for.
    #[error("the server's answer cannot be used: {0}")]
    Unfit(String),
}

impl RemoteError {
    /// Its name among the metrics.
    pub(super) fn outcome(&self) -> Asked {
        match self {
            Self::Late | Self::Silent(_) => Asked::Timeout,
            Self::Refused { .. } => Asked::Refused,
            Self::BadAnswer(_) | Self::Unfit(_) => Asked::Unreadable,
            Self::Setting(_) | Self::Paused(_) | Self::Unreachable(_) => Asked::Error,
        }
    }

    /// Whether the same may work later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Late | Self::Paused(_) | Self::Unreachable(_) | Self::Silent(_) => true,
            Self::Refused { status, .. } => *status == 408 || *status == 429 || *status >= 500,
            // The same question would mostly get the same answer, at the same cost.
            Self::Setting(_) | Self::BadAnswer(_) | Self::Unfit(_) => false,
        }
    }

    /// Whether the server is at fault, and others would fare no better. One that refuses a request or answers it
    /// uselessly works: a text that makes a model ramble must not have it paused for everybody.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Silent(_) | Self::BadAnswer(_) => true,
            Self::Refused { .. } => self.is_transient(),
            Self::Setting(_) | Self::Late | Self::Paused(_) | Self::Unfit(_) => false,
        }
    }

    /// An answer that is no JSON, or JSON of another form.
    pub(crate) fn unread(error: &serde_json::Error) -> Self {
        match error.classify() {
            Category::Data => Self::Unfit(complaint(error)),
            Category::Eof | Category::Syntax | Category::Io => Self::BadAnswer(complaint(error)),
        }
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
