//! Work in the background.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
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
        self.into()
    }
}

/// Something that is done in the background.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// The id; later jobs have larger ones.
    #[schema(example = 4711)]
    pub id: i64,
    /// Its tenant, by slug; null for jobs of the system.
    #[schema(example = "acme")]
    pub tenant: Option<String>,
    /// What is done.
    #[schema(example = "embed_skill")]
    pub task: String,
    /// Where it is.
    pub state: JobState,
    /// Whose it is, by external id, or by id where the user is gone; absent for jobs of the system.
    #[schema(example = "alice")]
    pub user: Option<String>,
    /// Times it was begun.
    pub attempts: i16,
    /// Times it may be begun.
    pub max_attempts: i16,
    /// Why it failed last.
    pub last_error: Option<String>,
    /// When it is due.
    pub run_at: DateTime<Utc>,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// What it is about. Only one job with the same key waits at a time.
    #[schema(example = "embed_skill:0193e9c2-6b1f-7d3a-9f00-2b6d1c9e4a10")]
    pub key: Option<String>,
}
