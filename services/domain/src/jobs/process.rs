//! Running processes of the service, from their heartbeats.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::ProcessId;

/// Role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProcessKind {
    /// Answers requests.
    Serve,
    /// Answers requests and runs jobs.
    ServeWithWorker,
    /// Runs jobs.
    Worker,
}

impl ProcessKind {
    /// Returns the name as served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A running process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Process {
    /// Id, created when the process starts.
    #[schema(value_type = Uuid)]
    pub id: ProcessId,
    /// Role of the process.
    pub kind: ProcessKind,
    /// Release of the service.
    #[schema(example = "0.1.0")]
    pub version: String,
    /// Host name; in Kubernetes the name of the pod.
    #[schema(example = "knowhow-api-6d4cf56db6-x8k2p")]
    pub host: String,
    /// Maximum number of connections to the database.
    #[schema(minimum = 1)]
    pub connections: i32,
    /// Start time, by the database's clock.
    pub started_at: DateTime<Utc>,
    /// Time of the last heartbeat, sent every 20 s.
    pub seen_at: DateTime<Utc>,
}
