//! Submissions: changes of skills that wait until somebody who may decides.

mod check;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{ChangeKind, SubmissionId};
pub use check::{Check, CheckOutcome, CheckStep};

/// Where a submission stands. All but `checking` and `needs_review` are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SubmissionState {
    /// No check holds it, and a model is about to read it: it is applied where that has no doubts, else it waits.
    Checking,
    /// It waits for a person.
    NeedsReview,
    /// It was applied: by a person's word, or because no check held it.
    Approved,
    /// A person, or a check, has refused it.
    Rejected,
    /// The skill has changed since; `rebase` proposes it anew.
    Stale,
    /// Its submitter has taken it back.
    Withdrawn,
    /// Nobody has decided in time.
    Expired,
}

/// What a submission does to its skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum SubmissionKind {
    /// The whole skill was given.
    Save,
    /// Text was replaced in it.
    Patch,
    /// It came from a file or an archive.
    Import,
    /// Discovery fields were added.
    Enrich,
    /// Texts of several skills were joined.
    Merge,
    /// A background process has improved it.
    Optimize,
    /// An earlier version was put back.
    Rollback,
    /// A release of the starter skills, or a synchronised folder.
    Sync,
    /// It is to go.
    Delete,
    /// It is to be a skill of the tenant's library, with or without changing the one of that name there.
    Share,
}

/// A change of a skill on its way through review. Its text is shown to whoever may decide, and to nobody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submission {
    /// Its id. Ids are ordered by time.
    #[schema(value_type = uuid::Uuid)]
    pub id: SubmissionId,
    /// The skill's full name. A new one is not reserved.
    #[schema(example = "plan-meeting")]
    pub skill: String,
    /// What it does.
    pub kind: SubmissionKind,
    /// Where it stands.
    pub state: SubmissionState,
    /// Whose skill it is, by the tenant's own id.
    #[schema(example = "alice")]
    pub user: String,
    /// Who proposes it. The same credential cannot decide.
    #[schema(example = "user:alice")]
    pub submitter: String,
    /// The same as it is stored, by the user's id; not shown.
    #[serde(skip)]
    pub author: String,
    /// Why, in the submitter's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The session that it comes from, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether its text comes from a session that has read untrusted content.
    pub tainted: bool,
    /// The sessions that the taint came in by; at most 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_in: Vec<String>,
    /// What these had read; at most 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_by: Vec<String>,
    /// The version that it was made from; 0 for a new skill.
    #[schema(minimum = 0)]
    pub base_version: i32,
    /// SHA-256 over the state that it was made from, hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_digest: Option<String>,
    /// SHA-256 over the state that it makes, hex; absent where it deletes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_digest: Option<String>,
    /// The steps of the review.
    pub checks: Vec<Check>,
    /// Who has decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// In their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<DateTime<Utc>>,
    /// The version that it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_version: Option<i32>,
    /// When it was proposed.
    pub created_at: DateTime<Utc>,
    /// When it expires undecided; one that is decided is kept until then.
    pub expires_at: DateTime<Utc>,
}

impl SubmissionState {
    /// The stored and served form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it is undecided.
    pub fn waits(self) -> bool {
        matches!(self, Self::Checking | Self::NeedsReview)
    }
}

impl SubmissionKind {
    /// The stored and served form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What the version is called that it becomes.
    pub fn change(self) -> ChangeKind {
        match self {
            Self::Patch => ChangeKind::Patch,
            Self::Import => ChangeKind::Import,
            Self::Enrich => ChangeKind::Enrich,
            Self::Merge => ChangeKind::Merge,
            Self::Optimize => ChangeKind::Optimize,
            Self::Rollback => ChangeKind::Rollback,
            Self::Sync => ChangeKind::Sync,
            Self::Save | Self::Delete | Self::Share => ChangeKind::Save,
        }
    }
}

impl From<ChangeKind> for SubmissionKind {
    fn from(change: ChangeKind) -> Self {
        match change {
            ChangeKind::Save => Self::Save,
            ChangeKind::Patch => Self::Patch,
            ChangeKind::Import => Self::Import,
            ChangeKind::Enrich => Self::Enrich,
            ChangeKind::Merge => Self::Merge,
            ChangeKind::Optimize => Self::Optimize,
            ChangeKind::Rollback => Self::Rollback,
            ChangeKind::Sync => Self::Sync,
        }
    }
}

impl Submission {
    /// The submission as it may be shown to those who cannot decide, among them agents: what was found and where would
    /// teach an attacker to get by it.
    #[must_use]
    pub fn without_findings(mut self) -> Self {
        for check in &mut self.checks {
            check.findings.clear();
        }
        self
    }
}
