//! Revisions of a user's catalogue and stamps of each skill, used to check whether cached copies are current.

use knowhow_domain::SkillId;
use uuid::Uuid;

use crate::vault::row;

/// State of a skill as numbers. Cached data of the skill is current while the numbers are unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillStamp {
    pub id: SkillId,
    /// Changes with the text and fields of the skill.
    pub text: i64,
    /// Changes with the vector made by the requested model, if the skill has one.
    pub vector: Option<i64>,
    /// Size of the SKILL.md in bytes; 0 for a shared starter.
    pub bytes: i32,
    /// Whether all users share the skill's text, and so its vector.
    pub is_starter: bool,
}

/// The stamps of all of a user's skills at one revision.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    pub revision: i64,
    /// Stamps of the skills, unordered.
    pub skills: Vec<SkillStamp>,
}

row! { Revisions { skills: i64 = revision, examples: i64 = examples_revision } }

row! { struct CatalogueRevisionRow { revision: i64 } }

row! { SkillStamp { id: Uuid = skill_id, text: i64 = stamp, vector: Option<i64>, bytes: i32, is_starter: bool } }

/// The revisions of a user's catalogue. A cached copy is current while both are unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Revisions {
    pub skills: i64,
    /// Revision of the vectors of examples.
    pub examples: i64,
}
