//! Memories: facts and events about a user.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::MemoryId;

/// Kind of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MemoryKind {
    /// A fact that holds until it changes.
    #[default]
    Semantic,
    /// An event with its time.
    Episodic,
    /// A reflection on past events.
    Reflection,
}

impl MemoryKind {
    /// Returns the name, e.g. `semantic`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A memory about the user.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Memory {
    /// Id of the memory.
    #[schema(value_type = uuid::Uuid)]
    pub id: MemoryId,
    /// Kind of the memory.
    pub kind: MemoryKind,
    /// Text of the memory.
    #[schema(example = "Prefers trains to planes")]
    pub content: String,
    /// Importance at the time of storing, 0 to 1. It decays by 5 % a day, or by the tenant's `memory_decay`.
    pub importance: f32,
    /// Labels to filter memories by.
    pub tags: Vec<String>,
    /// Whether every snapshot includes the memory.
    pub core: bool,
    /// Session that the memory comes from.
    pub session: Option<String>,
    /// Whether the session had read untrusted content and no person has approved the memory.
    pub tainted: bool,
    /// Actor who approved the tainted memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Time of the approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
    /// Version; every change of the memory increases it by one.
    pub version: i32,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of storing this version, if later than the creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

/// An earlier version of a memory.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MemoryVersion {
    /// Version.
    pub version: i32,
    /// Text of the memory.
    pub content: String,
    /// Labels.
    pub tags: Vec<String>,
    /// Importance, 0 to 1.
    pub importance: f32,
    /// Whether the memory was in every snapshot.
    pub core: bool,
    /// Whether the session that wrote this or an earlier version was marked later as having read untrusted content.
    pub tainted: bool,
    /// Actor who wrote this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
    /// Time at which this version was written.
    pub created_at: DateTime<Utc>,
}
