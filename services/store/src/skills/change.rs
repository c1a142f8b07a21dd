//! A change to a skill, as applied by [`PlannedChange::write`](super::PlannedChange::write).

use chrono::{DateTime, Utc};
use knowhow_domain::{ChangeKind, Error, ResourceEntry, Result, SkillDocument, SkillId, SkillName, Source};
use serde_json::Value;

use super::SkillState;
use crate::vault::batch::PendingRows;
use crate::vault::row;

row! {
    struct WrittenRow {
        tainted: bool, times_used: i64, last_used_at: Option<DateTime<Utc>>, revision: i64, stamp: i64,
    }
}

/// A validated new state of one skill.
pub struct NewSkillState<'a> {
    pub name: &'a SkillName,
    pub document: &'a SkillDocument,
    /// Frontmatter as JSON; `None` if MCP hosts receive a corrected SKILL.md instead of the stored text.
    pub frontmatter: Option<Value>,
    /// Digest of the new state: SKILL.md and resources together.
    pub digest: [u8; 32],
    /// All resources of the new state.
    pub resources: &'a [ResourceEntry],
    /// Contents of the resources that might not be in the database yet.
    pub new_files: &'a [Vec<u8>],
    /// The locked state that the change is based on; `None` for a new skill.
    pub base: Option<&'a SkillState>,
    /// Origin to record if the skill is new.
    pub source: Source,
    /// Kind of change, for the history.
    pub kind: ChangeKind,
    pub session: Option<&'a str>,
    /// Origins of the text, for the taint.
    pub lineage: Lineage<'a>,
    /// Follow-up jobs, and derived data to invalidate.
    pub follow_up: FollowUp<'a>,
    /// Author of the change, if it is not the caller.
    pub author: Option<&'a str>,
    /// Whether a tainted text must be reviewed before it becomes visible. If so, the write fails with
    /// [`MustBeReviewed`](knowhow_domain::Error::MustBeReviewed).
    pub is_reviewed: bool,
    /// Digest of the request, which identifies a repeated patch.
    pub request_digest: Option<[u8; 32]>,
    pub now: DateTime<Utc>,
}

/// Origins of a text. The text inherits their taint.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lineage<'a> {
    /// All sessions named by the request, by id or key. The text inherits the taint of each.
    pub named: &'a [&'a str],
    /// Whether the text is derived from the previous one, so that it inherits that taint. Otherwise the text is only
    /// tainted if it contains longer lines of tainted texts.
    pub derived: bool,
    /// Taint recorded in the import archive, if the text was imported.
    pub brought: Option<&'a [String]>,
}

/// Follow-up jobs after a change, and the derived texts and vectors that it invalidates.
#[derive(Debug, Clone, Copy, Default)]
pub struct FollowUp<'a> {
    /// Tasks of the jobs about the skill, enqueued with the change.
    pub tasks: &'a [&'a str],
    /// Whether the jobs have bulk priority. Bulk jobs run after jobs caused by people and take turns with other
    /// tenants' bulk jobs.
    pub is_bulk: bool,
    /// Whether the embedded text changes. If so, the old vectors are deleted, so that a process with the model creates
    /// new ones.
    pub outdates_vectors: bool,
    /// Model of the only vector that is not deleted, because one of the jobs replaces it. `None` deletes all vectors.
    pub replaced_by: Option<&'a str>,
    /// Whether relations in the text changed, so that a job must extract them.
    pub relates: bool,
    /// Whether the generated index line is outdated.
    pub outdates_summary: bool,
}

/// A change that was queued in a transaction.
pub struct QueuedChange {
    pub id: SkillId,
    pub version: i32,
    /// Number of the user's skills after the change.
    pub skill_count: i32,
    /// Total size of the user's skills in bytes after the change.
    pub byte_count: i64,
    /// Upper bound on the number of bytes stored for the user, with history and archive, after the change.
    pub most_stored_bytes: i64,
    pub(super) answer: PendingRows<WrittenRow>,
}

/// Result of a change's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenOutcome {
    /// Whether the version is tainted.
    pub tainted: bool,
    /// Number of uses of the skill.
    pub times_used: i64,
    /// Time of the last use; `None` if the skill was never used.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Revision of the user's catalogue after the change.
    pub revision: i64,
    /// New stamp of the skill's text, see [`SkillStamp`](super::SkillStamp).
    pub stamp: i64,
}

impl QueuedChange {
    /// Returns the result after the statement was sent.
    ///
    /// # Errors
    /// `Internal` if it was not sent yet.
    pub fn outcome(self) -> Result<WrittenOutcome> {
        let row = self.answer.take()?.pop().ok_or_else(|| Error::internal("a change without an outcome"))?;
        let WrittenRow { tainted, times_used, last_used_at, revision, stamp } = row;
        Ok(WrittenOutcome { tainted, times_used, last_used_at, revision, stamp })
    }
}
