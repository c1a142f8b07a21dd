//! The report of an import, skill by skill.

use knowhow_domain::{FieldError, SubmissionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::learning::examples::ImportedExamples;

/// The report of an import.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ImportReport {
    /// An entry for each skill found, in the order of paths.
    pub items: Vec<Imported>,
    /// Number of new skills.
    pub created: usize,
    /// Number of skills with a new version.
    pub updated: usize,
    /// Number of skills that the user already had, byte for byte.
    pub unchanged: usize,
    /// Number of skills that are equal to another skill of this import.
    pub duplicates: usize,
    /// Number of changes that need a review.
    #[serde(default)]
    pub waiting: usize,
    /// Number of rejected skills.
    pub failed: usize,
    /// Paths of files that belong to no skill.
    pub strays: Vec<String>,
    /// Files that cannot be imported, e.g. links.
    pub left_out: Vec<LeftOutFile>,
    /// The result for `knowhow-examples.jsonl`, which an export can include.
    #[serde(default)]
    pub examples: ImportedExamples,
}

/// A file that was not imported.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LeftOutFile {
    /// Path in the upload.
    #[schema(example = "mcp/email/references/shared.md")]
    pub path: String,
    /// Reason why it was not imported.
    pub detail: String,
}

/// The report of one skill of an import.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// Path of the skill's SKILL.md.
    #[schema(example = "mcp/email/SKILL.md")]
    pub path: String,
    /// The skill's name.
    pub name: Option<String>,
    /// The outcome for this skill.
    pub outcome: ImportOutcome,
    /// The skill's version after the import.
    pub version: Option<i32>,
    /// Whether the skill's frontmatter was repaired, as requested with `fix=true`.
    pub fixed: bool,
    /// The repairs, one sentence each.
    pub fixes: Vec<String>,
    /// The submission, if the skill waits for review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub submission: Option<SubmissionId>,
    /// For a duplicate: the path of the copy that was imported.
    pub same_as: Option<String>,
    /// Slug of the problem, if the skill was rejected.
    pub code: Option<String>,
    /// The reason and the remedy, if the skill was rejected.
    pub detail: Option<String>,
    /// The individual findings in the skill's fields.
    pub errors: Vec<FieldError>,
    /// A note, e.g. that the skill was renamed because its name is reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The outcome of an import for one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// A new skill was created.
    Created,
    /// A new version was created.
    Updated,
    /// The user already had the skill, byte for byte.
    Unchanged,
    /// Another copy of the skill was imported from this upload.
    Duplicate,
    /// The change was submitted for review.
    Waiting,
    /// The skill was rejected and not stored.
    Failed,
}

impl Imported {
    /// Returns an item with this outcome and no further details.
    pub(super) fn at(path: String, outcome: ImportOutcome) -> Self {
        Self {
            path,
            name: None,
            outcome,
            version: None,
            fixed: false,
            fixes: Vec::new(),
            submission: None,
            same_as: None,
            code: None,
            detail: None,
            errors: Vec::new(),
            note: None,
        }
    }
}

impl ImportReport {
    /// Adds an item and counts its outcome.
    pub(super) fn push(&mut self, item: Imported) {
        match item.outcome {
            ImportOutcome::Created => self.created += 1,
            ImportOutcome::Updated => self.updated += 1,
            ImportOutcome::Unchanged => self.unchanged += 1,
            ImportOutcome::Duplicate => self.duplicates += 1,
            ImportOutcome::Waiting => self.waiting += 1,
            ImportOutcome::Failed => self.failed += 1,
        }
        self.items.push(item);
    }
}
