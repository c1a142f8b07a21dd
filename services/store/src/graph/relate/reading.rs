//! The reading of skills' texts for relations: a skill that is to be read, the state that it is read in, and what it says.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::RelationType;
use knowhow_domain::{EntityId, SkillId};
use uuid::Uuid;

use crate::vault::row;
use crate::vault::value::Utf8;

/// A relation that a skill's text says.
#[derive(Debug, Clone)]
pub struct Said {
    pub kind: RelationType,
    /// The other skill's name, whether there is one of that name or not.
    pub name: String,
    /// Of which other skill the sentence may speak.
    pub subject: Option<String>,
    /// How often it is said.
    pub mentions: i32,
    /// How sure it is, 0 to 1.
    pub confidence: f32,
    /// The words that say it.
    pub evidence: String,
}

/// A skill whose text was read.
#[derive(Debug, Clone)]
pub struct Related<'a> {
    pub skill: SkillId,
    pub name: &'a str,
    /// The text that was read, and when that was: of another one, or one that is to be read again since, nothing is kept.
    pub read: ReadState,
    /// What it says.
    pub said: Vec<Said>,
    /// The things that it names.
    pub things: Vec<EntityId>,
}

/// The state of a skill that was read.
#[derive(Debug, Clone)]
pub struct ReadState {
    /// SHA-256 of its SKILL.md.
    pub(super) digest: Vec<u8>,
    /// What its entity said of readings then.
    pub(super) read_by: i32,
}

/// By which rules texts were read, and when.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub rules: i32,
    pub now: DateTime<Utc>,
}

row! {
    struct UnreadRow {
        skill_id: Uuid, name: String, document: Utf8, document_digest: Vec<u8>, is_known: bool, read_by: i32,
    }
}

/// A skill whose text is to be read.
#[derive(Debug, Clone)]
pub struct Unread {
    pub skill: SkillId,
    pub name: String,
    pub document: String,
    /// Whether it was in the graph before.
    pub is_known: bool,
    /// For what is made of this text.
    pub read: ReadState,
}
