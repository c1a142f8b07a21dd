//! Versions of a skill.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// Kind of change that made a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ChangeKind {
    /// A complete skill was saved.
    Save,
    /// Text was replaced.
    Patch,
    /// Imported from a file or an archive.
    Import,
    /// A background process completed the skill's fields.
    Enrich,
    /// Another skill was merged into the skill.
    Merge,
    /// A background process improved the skill's text.
    Optimize,
    /// An earlier version was restored.
    Rollback,
    /// Updated by a release of the starter skills or by a synchronised folder.
    Sync,
}

impl ChangeKind {
    /// Returns the name as stored and served.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A version of a skill, without its text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Version {
    /// Number from 1, without gaps; the oldest beyond the tenant's `versions_per_skill` are removed.
    #[schema(minimum = 1)]
    pub version: i32,
    /// Kind of change: `save`, `patch`, `import`, `rollback`, `sync`, `enrich`; more may be added.
    #[schema(value_type = String, example = "patch")]
    pub change: ChangeKind,
    /// Author of the version.
    #[schema(example = "user:alice")]
    pub actor: String,
    /// Session that made the change, if any.
    pub session: Option<String>,
    /// Whether the version has text from a tainted session that no person has approved.
    pub tainted: bool,
    /// Sessions that caused the taint, including through earlier versions; at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_in: Vec<String>,
    /// Untrusted content that these sessions read; at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_by: Vec<String>,
    /// Actor who approved the text of the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Time of the approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
    /// Hex SHA-256 of SKILL.md and resources.
    pub digest: String,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests;
