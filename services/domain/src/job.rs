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

/// What jobs are called in the queue. A name that changes leaves jobs behind that nobody works on.
pub mod task {
    /// Makes the vectors of a user's examples.
    pub const EMBED_EXAMPLES: &str = "embed_examples";
    /// Makes the vectors of a user's memories.
    pub const EMBED_MEMORIES: &str = "embed_memories";
    /// Makes the vector of a skill.
    pub const EMBED_SKILL: &str = "embed_skill";
    /// Enqueues what has no vector of the present model.
    pub const EMBED_STALE: &str = "embed_stale";
    /// Ends conversations that fell silent.
    pub const END_SESSIONS: &str = "end_sessions";
    /// Removes what is past its time.
    pub const PRUNE: &str = "prune";
    /// Renders a user's snapshot.
    pub const RENDER_SNAPSHOT: &str = "render_snapshot";
    /// Enqueues the snapshots that are about to expire.
    pub const RENDER_SNAPSHOTS: &str = "render_snapshots";
    /// Summarizes a conversation that is over.
    pub const SUMMARIZE_CONVERSATION: &str = "summarize_conversation";
    /// Writes the index line of a skill.
    pub const SUMMARIZE_SKILL: &str = "summarize_skill";
}
