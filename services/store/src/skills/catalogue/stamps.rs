//! Numbers by which a copy of a user's skills in memory tells what of it is current: revisions of the whole, stamps of each skill.

use knowhow_domain::SkillId;
use uuid::Uuid;

use crate::vault::row;

/// The state of a skill in numbers. While they are the same, what was read of the skill is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub id: SkillId,
    /// A number that changes with its text and fields.
    pub text: i64,
    /// A number that changes with its vector by the model asked for, if it has one.
    pub vector: Option<i64>,
    /// Size of its SKILL.md in bytes; 0 for a text that all users share.
    pub bytes: i32,
    /// Whether its text, and so its vector, is that of all users.
    pub is_starter: bool,
}

/// The stamps of all skills of a user at one revision.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    pub revision: i64,
    /// In no order.
    pub skills: Vec<Stamp>,
}

row! { Revisions { skills: i64 = revision, examples: i64 = examples_revision } }

row! { struct RevisionRow { revision: i64 } }

row! { Stamp { id: Uuid = skill_id, text: i64 = stamp, vector: Option<i64>, bytes: i32, is_starter: bool } }

/// The revisions of a user's catalogue. A copy in memory is current while they are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Revisions {
    pub skills: i64,
    /// Of the vectors of their examples.
    pub examples: i64,
}
