//! What became of an import, skill by skill.

use knowhow_domain::{FieldError, SubmissionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::examples::ImportedExamples;

/// The report of an import.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ImportReport {
    /// One for each skill found, in the order of paths.
    pub items: Vec<Imported>,
    /// Skills that are new.
    pub created: usize,
    /// Skills with a new version.
    pub updated: usize,
    /// Skills that were there already, byte for byte.
    pub unchanged: usize,
    /// Skills that are the same as another one of this import.
    pub duplicates: usize,
    /// Changes that wait for a person.
    #[serde(default)]
    pub waiting: usize,
    /// Skills that were refused.
    pub failed: usize,
    /// Files that belong to no skill.
    pub strays: Vec<String>,
    /// Files that were not taken, such as links.
    pub left_out: Vec<LeftOutFile>,
    /// What became of `knowhow-examples.jsonl`, which an export adds where it is asked to.
    #[serde(default)]
    pub examples: ImportedExamples,
}

/// A file that was not taken.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LeftOutFile {
    /// Its path in what was sent.
    #[schema(example = "mcp/email/references/shared.md")]
    pub path: String,
    /// Why it was not taken.
    pub detail: String,
}

/// The report of one skill of an import.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// Where its SKILL.md was.
    #[schema(example = "mcp/email/SKILL.md")]
    pub path: String,
    /// The name it has now.
    pub name: Option<String>,
    /// The outcome for this skill.
    pub outcome: ImportOutcome,
    /// The version that the skill has now.
    pub version: Option<i32>,
    /// Its frontmatter was mended, as `fix=true` asks.
    pub fixed: bool,
    /// The repairs, one sentence each.
    pub fixes: Vec<String>,
    /// Of one that waits: the submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub submission: Option<SubmissionId>,
    /// Of a duplicate: where the one was that was taken.
    pub same_as: Option<String>,
    /// Why it was refused: the problem's slug.
    pub code: Option<String>,
    /// Why it was refused, and what to do.
    pub detail: Option<String>,
    /// The findings, one by one.
    pub errors: Vec<FieldError>,
    /// What else is to be known, as that the skill was renamed because its name is reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The outcome of an import for one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// A new skill.
    Created,
    /// A new version.
    Updated,
    /// There already, byte for byte.
    Unchanged,
    /// The same as another one of this import, which is taken.
    Duplicate,
    /// It waits for a person, as a submission.
    Waiting,
    /// It was refused, and nothing of it kept.
    Failed,
}

impl Imported {
    /// One of that outcome, about which nothing else is known yet.
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
    /// Takes in what became of a skill.
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
