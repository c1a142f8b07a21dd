//! Why a model's server gave no answer.

/// What went wrong; `Display` is for the log, as it may quote the server.
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
    #[error("the server answered {status}: {detail}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// What it said, cut short.
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
}
