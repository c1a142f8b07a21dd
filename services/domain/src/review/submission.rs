//! Submissions: changes to skills that wait for a decision.

mod check;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{ChangeKind, SubmissionId};
pub use check::{Check, CheckOutcome, CheckStep};

/// State of a submission. All but `checking` and `needs_review` are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SubmissionState {
    /// Only the model check remains. If the model approves, the change is applied; otherwise it waits for a person.
    Checking,
    /// Waits for a person.
    NeedsReview,
    /// Applied, because a person approved it or all checks passed.
    Approved,
    /// Rejected by a person or a check.
    Rejected,
    /// The skill has changed since the submission; `rebase` submits the change again.
    Stale,
    /// Withdrawn by its submitter.
    Withdrawn,
    /// Not decided in time.
    Expired,
}

/// Kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum SubmissionKind {
    /// A complete skill was saved.
    Save,
    /// Text was replaced.
    Patch,
    /// Imported from a file or an archive.
    Import,
    /// Discovery fields were added.
    Enrich,
    /// The texts of several skills were merged.
    Merge,
    /// Improved by a background process.
    Optimize,
    /// An earlier version was restored.
    Rollback,
    /// Updated by a release of the starter skills or by a synchronised folder.
    Sync,
    /// The skill is deleted.
    Delete,
    /// The skill is added to the tenant's library, or updates the library's skill of that name.
    Share,
}

/// A change to a skill, in review. Its text is shown only to its reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submission {
    /// Id. Ids are ordered by time.
    #[schema(value_type = uuid::Uuid)]
    pub id: SubmissionId,
    /// Full name of the skill. The name of a new skill is not reserved.
    #[schema(example = "plan-meeting")]
    pub skill: String,
    /// Kind of change.
    pub kind: SubmissionKind,
    /// State of the submission.
    pub state: SubmissionState,
    /// External id of the skill's user.
    #[schema(example = "alice")]
    pub user: String,
    /// Submitter. The same credential cannot decide on the submission.
    #[schema(example = "user:alice")]
    pub submitter: String,
    /// The submitter as stored, with the user's internal id; not shown.
    #[serde(skip)]
    pub author: String,
    /// Reason given by the submitter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Session that made the change, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether the text comes from a session that has read untrusted content.
    pub tainted: bool,
    /// Sessions that caused the taint; at most 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_in: Vec<String>,
    /// Untrusted content that these sessions read; at most 8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_by: Vec<String>,
    /// Version that the change is based on; 0 for a new skill.
    #[schema(minimum = 0)]
    pub base_version: i32,
    /// Hex SHA-256 of the state that the change is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_digest: Option<String>,
    /// Hex SHA-256 of the resulting state; absent for a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_digest: Option<String>,
    /// The steps in the review.
    pub checks: Vec<Check>,
    /// Actor that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Comment on the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Time of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<DateTime<Utc>>,
    /// The resulting version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_version: Option<i32>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time at which the submission expires if undecided. A decided submission is stored until then.
    pub expires_at: DateTime<Utc>,
}

impl SubmissionState {
    /// Returns the name as stored and served.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Checks whether the submission is undecided.
    pub fn waits(self) -> bool {
        matches!(self, Self::Checking | Self::NeedsReview)
    }
}

impl SubmissionKind {
    /// Returns the name as stored and served.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the kind of change that the resulting version records.
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
    /// Removes the findings, for callers that cannot decide, including agents. An attacker could use the details of
    /// findings to avoid detection.
    #[must_use]
    pub fn without_findings(mut self) -> Self {
        for check in &mut self.checks {
            check.findings.clear();
        }
        self
    }
}
