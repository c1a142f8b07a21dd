//! Processes of the service, as they say of themselves that they run.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::ProcessId;

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProcessKind {
    /// It answers requests.
    Serve,
    /// It answers requests and works on jobs.
    ServeWithWorker,
    /// It works on jobs.
    Worker,
}

impl ProcessKind {
    /// The word that is served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A process that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Process {
    /// The id, made at its start.
    #[schema(value_type = Uuid)]
    pub id: ProcessId,
    /// What it does.
    pub kind: ProcessKind,
    /// Its release of the service.
    #[schema(example = "0.1.0")]
    pub version: String,
    /// The name of its host; in Kubernetes that of its pod.
    #[schema(example = "knowhow-api-6d4cf56db6-x8k2p")]
    pub host: String,
    /// Connections to the database that it may open at most.
    #[schema(minimum = 1)]
    pub connections: i32,
    /// When it started, by the database's clock.
    pub started_at: DateTime<Utc>,
    /// When it last said that it is there; it does so every 20 s.
    pub seen_at: DateTime<Utc>,
}
