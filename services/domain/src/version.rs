//! Versions: how a skill came to be as it is.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// How a version came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ChangeKind {
    /// The whole skill was given.
    Save,
    /// Text was replaced in it.
    Patch,
    /// It came from a file or an archive.
    Import,
    /// A background process completed its fields.
    Enrich,
    /// Another skill was absorbed into it.
    Merge,
    /// A background process improved its text.
    Optimize,
    /// An earlier version was put back.
    Rollback,
    /// A release of the starter skills brought it, or a folder that is kept the same.
    Sync,
}

impl ChangeKind {
    /// The stored and served form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A version of a skill, without its text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Version {
    /// From 1, without gaps; the oldest leave beyond the tenant's `versions_per_skill`.
    #[schema(minimum = 1)]
    pub version: i32,
    /// How it came to be: `save`, `patch`, `import`, `rollback`, `sync`, `enrich`; there will be more words.
    #[schema(value_type = String, example = "patch")]
    pub change: ChangeKind,
    /// Who made it.
    #[schema(example = "user:alice")]
    pub actor: String,
    /// The session in which it was made, if any.
    pub session: Option<String>,
    /// Whether text of it came from a tainted session, and no person has approved it.
    pub tainted: bool,
    /// The sessions that the taint came in by, also by way of the versions that this one is made of; at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_in: Vec<String>,
    /// What these had read; at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_by: Vec<String>,
    /// Who approved its text as to be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// When it was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
    /// SHA-256 over SKILL.md and resources, hex.
    pub digest: String,
    /// When the version was made.
    pub created_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests;
