//! Memories: what is remembered of a user besides skills.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;
use uuid::Uuid;

/// What kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MemoryKind {
    /// A fact.
    #[default]
    Semantic,
    /// An event.
    Episodic,
    /// A thought about what happened.
    Reflection,
}

impl MemoryKind {
    /// The wire form, e.g. `semantic`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One memory.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Memory {
    /// Its id.
    pub id: Uuid,
    /// What kind.
    pub kind: MemoryKind,
    /// What is remembered.
    #[schema(example = "Prefers trains to planes")]
    pub content: String,
    /// 0 to 1.
    pub importance: f32,
    /// Free labels.
    pub tags: Vec<String>,
    /// Whether it is in every snapshot.
    pub core: bool,
    /// The conversation it comes from.
    pub session: Option<String>,
    /// Whether that had read untrusted content.
    pub tainted: bool,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
}
