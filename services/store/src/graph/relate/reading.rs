//! Types for extracting relations from skills' texts.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::RelationType;
use knowhow_domain::{EntityId, SkillId};
use uuid::Uuid;

use crate::vault::row;
use crate::vault::value::Utf8;

/// A relation stated by a skill's text.
#[derive(Debug, Clone)]
pub struct StatedRelation {
    pub kind: RelationType,
    /// Name of the other skill, which might not exist.
    pub name: String,
    /// Apparent subject of the sentence, if it is not this skill.
    pub subject: Option<String>,
    /// Number of times that the text states the relation.
    pub mentions: i32,
    /// Confidence in the relation, 0 to 1.
    pub confidence: f32,
    /// Words in the text that state the relation.
    pub evidence: String,
}

/// Relations and entities found in one skill's text.
#[derive(Debug, Clone)]
pub struct Related<'a> {
    pub skill: SkillId,
    pub name: &'a str,
    /// State of the text that was read. If the text has changed or was marked as unread since, the result is
    /// discarded.
    pub read: ReadState,
    /// Relations that the text states.
    pub stated: Vec<StatedRelation>,
    /// Entities that the text mentions.
    pub things: Vec<EntityId>,
}

/// State of a skill when its text was read.
#[derive(Debug, Clone)]
pub struct ReadState {
    /// SHA-256 of the SKILL.md of the skill.
    pub(super) digest: Vec<u8>,
    /// Value of `read_by` of the skill's entity when the text was read.
    pub(super) read_by: i32,
}

/// Version of the rules, and time of the extraction.
#[derive(Debug, Clone, Copy)]
pub struct ExtractionRun {
    pub rules: i32,
    pub now: DateTime<Utc>,
}

row! {
    struct UnreadSkillRow {
        skill_id: Uuid, name: String, document: Utf8, document_digest: Vec<u8>, is_known: bool, read_by: i32,
    }
}

/// A skill to read.
#[derive(Debug, Clone)]
pub struct UnreadSkill {
    pub skill: SkillId,
    pub name: String,
    pub document: String,
    /// Whether the skill was already in the graph.
    pub is_known: bool,
    /// State of the text, which is passed on with the result.
    pub read: ReadState,
}
