//! Memories as callers see them.

use chrono::{DateTime, Utc};
use knowhow_store::memories::Memory;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
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
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Episodic => "episodic",
            Self::Reflection => "reflection",
        }
    }

    pub(super) fn from_wire(text: &str) -> Self {
        match text {
            "episodic" => Self::Episodic,
            "reflection" => Self::Reflection,
            _ => Self::Semantic,
        }
    }
}

/// One memory.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MemoryView {
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

impl MemoryView {
    pub(super) fn of(memory: Memory) -> Self {
        Self {
            id: memory.id,
            kind: MemoryKind::from_wire(&memory.kind),
            content: memory.content,
            importance: memory.importance,
            tags: memory.tags,
            core: memory.core,
            session: memory.session,
            tainted: memory.tainted,
            created_at: memory.created_at,
        }
    }
}
