//! Memories: what is remembered of a user besides skills.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::MemoryId;

/// What kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MemoryKind {
    /// A fact that holds until it changes.
    #[default]
    Semantic,
    /// An event, at a time.
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

/// Something that is known of the user.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Memory {
    /// The memory's id, by which it can be deleted.
    #[schema(value_type = uuid::Uuid)]
    pub id: MemoryId,
    /// Whether it is a fact or an event.
    pub kind: MemoryKind,
    /// What is remembered, in words.
    #[schema(example = "Prefers trains to planes")]
    pub content: String,
    /// How much it matters, 0 to 1, as it was set when it was kept. It fades by 5 % a day, or the tenant's `memory_decay`.
    pub importance: f32,
    /// Labels by which memories can be listed.
    pub tags: Vec<String>,
    /// Whether it is in every snapshot.
    pub core: bool,
    /// The conversation it comes from.
    pub session: Option<String>,
    /// Whether that had read untrusted content, and no person has approved it.
    pub tainted: bool,
    /// Who approved it, where it was tainted and a person found it good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// When it was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
}
