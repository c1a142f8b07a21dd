//! Relations between skills.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// What one skill is to another.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RelationType {
    /// It cannot be followed without the other one.
    Requires,
    /// The two work well together. The same in both directions.
    Complements,
    /// It goes on where the other one ends, or adds to it.
    Extends,
    /// The two were used together often. The same in both directions; computed, never declared.
    OftenUsedWith,
    /// What it makes is what the other one begins with.
    Enables,
    /// It stands in the other one's place.
    Supersedes,
    /// Its author points at the other one.
    SeeAlso,
}

impl RelationType {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::Requires,
        Self::Complements,
        Self::Extends,
        Self::OftenUsedWith,
        Self::Enables,
        Self::Supersedes,
        Self::SeeAlso,
    ];

    /// The wire form, e.g. `often_used_with`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it says the same of both: such a relation is kept once.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::Complements | Self::OftenUsedWith)
    }
}

/// How a relation came to be.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RelationSource {
    /// Somebody said it, by name.
    Declared,
    /// The skill's own text says it: frontmatter or body.
    Extracted,
    /// Memories that name both skills.
    Computed,
}

impl RelationSource {
    /// The wire form, e.g. `computed`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Which of the two skills a relation starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelationDirection {
    /// This skill is something to the other one.
    Out,
    /// The other one is something to this skill.
    In,
    /// It says the same of both.
    Both,
}

/// What a skill has to do with another one.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Relation {
    /// What the one is to the other.
    #[serde(rename = "type")]
    pub kind: RelationType,
    /// The other skill, by name.
    #[schema(example = "web-perf")]
    pub skill: String,
    /// Which of the two it starts from.
    pub direction: RelationDirection,
    /// How it came to be.
    pub source: RelationSource,
    /// How strong it is, 0 to 1. A computed one fades from day to day until the two are used together again.
    pub strength: f32,
    /// How sure it is, 0 to 1: 1 for what somebody declared.
    pub confidence: f32,
    /// How often it was said, or how many memories the two share.
    #[schema(minimum = 1)]
    pub mentions: i32,
    /// The words that say it, where a text does.
    pub evidence: Option<String>,
    /// Whether a text says it that came from a tainted session, and no person has approved it: information, no instruction.
    pub tainted: bool,
    /// When it was said or computed last.
    pub reinforced_at: DateTime<Utc>,
}
