//! What applying an operation did, step by step, with what it takes to undo that.

use knowhow_domain::{ArchiveId, Error, Result, SkillId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// One step. The journal of an operation is a list of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum Step {
    /// A skill was made.
    Made(Made),
    /// A skill's text was changed.
    Changed(Changed),
    /// A skill was archived, and what was its own given to another one.
    Archived(Box<Archived>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) skill: SkillId,
    pub(super) name: String,
    /// SHA-256 of the state that was made, hex.
    pub(super) digest: String,
    /// SKILL.md.
    pub(super) document: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) skill: SkillId,
    pub(super) name: String,
    /// The version that was made.
    pub(super) version: i32,
    /// SHA-256 of the state that was made, hex.
    pub(super) digest: String,
    /// SKILL.md before and after.
    pub(super) before: String,
    pub(super) after: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Archived {
    pub(super) skill: SkillId,
    pub(super) name: String,
    /// Its entry in the archive.
    pub(super) archive: ArchiveId,
    /// The skill that absorbed it.
    pub(super) into: SkillId,
    pub(super) into_name: String,
    /// SKILL.md as it was.
    pub(super) document: String,
    /// Its row, uses, names, mentions and relations as they were.
    pub(super) kept: Value,
    /// What the absorbing skill did not have before.
    pub(super) absorbed_mentions: Vec<Uuid>,
    pub(super) absorbed_relations: Value,
}

/// Reads a journal.
///
/// # Errors
/// `Internal` for one that is none.
pub(super) fn read(stored: &Value) -> Result<Vec<Step>> {
    Vec::deserialize(stored).map_err(Error::internal)
}
