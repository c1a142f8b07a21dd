//! Where work in the background stands.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// For a worker.
    Waiting,
    /// A worker has it.
    Running,
    /// It failed and is tried again, later each time.
    Failed,
    /// It failed for good. It stays for 30 days.
    Dead,
}

impl JobState {
    /// The served form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Dead => "dead",
        }
    }

    /// The state of that word, if it is one.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Waiting, Self::Running, Self::Failed, Self::Dead].into_iter().find(|state| state.as_str() == word)
    }
}
