//! The steps of an applied operation, with the data needed to undo them.

use knowhow_domain::{ArchiveId, Error, Result, SkillId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// A step. The journal of an operation is a list of steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum JournalStep {
    /// A skill was created.
    Made(JournalledCreation),
    /// A skill's text was changed.
    Changed(JournalledChange),
    /// A skill was archived, and its data was moved to another skill.
    Archived(Box<Archived>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JournalledCreation {
    pub(super) skill: SkillId,
    pub(super) name: String,
    /// Hex SHA-256 of the created state.
    pub(super) digest: String,
    /// SKILL.md of the created skill.
    pub(super) document: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JournalledChange {
    pub(super) skill: SkillId,
    pub(super) name: String,
    /// The new version.
    pub(super) version: i32,
    /// Hex SHA-256 of the new state.
    pub(super) digest: String,
    /// SKILL.md before and after the change.
    pub(super) before: String,
    pub(super) after: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Archived {
    pub(super) skill: SkillId,
    pub(super) name: String,
    /// Id of the archive entry.
    pub(super) archive: ArchiveId,
    /// The skill that absorbed the archived skill.
    pub(super) into: SkillId,
    pub(super) into_name: String,
    /// SKILL.md before archiving.
    pub(super) document: String,
    /// Row, uses, names, mentions and relations of the skill before archiving.
    pub(super) kept: Value,
    /// Mentions and relations that the absorbing skill did not have before.
    pub(super) absorbed_mentions: Vec<Uuid>,
    pub(super) absorbed_relations: Value,
}

/// Parses a stored journal.
///
/// # Errors
/// `Internal` for an invalid journal.
pub(super) fn read(stored: &Value) -> Result<Vec<JournalStep>> {
    Vec::deserialize(stored).map_err(Error::internal)
}
