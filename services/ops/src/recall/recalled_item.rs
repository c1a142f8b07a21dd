//! Defines a recalled memory or skill, as answers show it.

use chrono::{DateTime, Utc};
use knowhow_domain::{Memory, MemoryKind};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::SearchedSkill;
use super::source::SourceHit;

/// A recalled memory or skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RecalledItem {
    /// The kind of the item.
    pub kind: RecalledKind,
    /// Id of the memory or skill.
    pub id: Uuid,
    /// Name of a skill, to load it by; absent for a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Text of the memory, or the skill's summary.
    pub content: String,
    /// Creation time of a memory; absent for a skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<DateTime<Utc>>,
    /// Fit to the question, 0 to 1. It is computed by kind:
    /// - memory: half for the common words by their rarity, half for the meaning
    /// - skill: the probability that the question asks for any skill, multiplied by this skill's closeness to the
    ///   best one
    /// - linked item: at most half of the score of the item that it is linked with
    pub score: f32,
    /// Explanation of the score, in words and numbers.
    pub reason: String,
    /// Whether the question forbids this skill, as in "without mcp/email". A turn would not include it.
    pub excluded: bool,
    /// Whether the item comes from a session that had read untrusted content; for a skill, only if no person has
    /// approved it.
    pub tainted: bool,
}

/// The kind of a recalled item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecalledKind {
    /// A fact.
    Semantic,
    /// An event.
    Episodic,
    /// A thought about what happened.
    Reflection,
    /// A procedure.
    Skill,
}

impl RecalledItem {
    pub(super) fn of_memory(memory: Memory, score: f32, reason: String) -> Self {
        let kind = match memory.kind {
            MemoryKind::Episodic => RecalledKind::Episodic,
            MemoryKind::Reflection => RecalledKind::Reflection,
            MemoryKind::Semantic => RecalledKind::Semantic,
        };
        let Memory { id, content, tainted, created_at, .. } = memory;
        let created_at = Some(created_at);
        Self { kind, id: id.0, name: None, content, created_at, score, reason, excluded: false, tainted }
    }
}

impl From<SourceHit<Memory>> for RecalledItem {
    fn from(found: SourceHit<Memory>) -> Self {
        Self::of_memory(found.item, found.score, found.reason)
    }
}

impl From<SourceHit<SearchedSkill>> for RecalledItem {
    fn from(found: SourceHit<SearchedSkill>) -> Self {
        let SourceHit { item: skill, score, reason } = found;
        let (kind, name) = (RecalledKind::Skill, Some(skill.name.clone()));
        let SearchedSkill { id, summary: content, excluded, .. } = skill;
        Self { kind, id: id.0, name, content, created_at: None, score, reason, excluded, tainted: false }
    }
}
