//! A change of a skill, as [`Planned::write`](super::Planned::write) applies it.

use chrono::{DateTime, Utc};
use knowhow_domain::{ChangeKind, Error, ResourceEntry, Result, SkillDocument, SkillId, SkillName, Source};
use serde_json::Value;

use super::SkillState;
use super::write::WrittenRow;
use crate::vault::queued::Answer;

/// A validated new state of one skill.
pub struct Change<'a> {
    pub name: &'a SkillName,
    /// The SKILL.md to be.
    pub document: &'a SkillDocument,
    /// Its frontmatter as JSON, where hosts can be served it as it is.
    pub frontmatter: Option<Value>,
    /// The identity of the state to be: SKILL.md and resources together.
    pub digest: [u8; 32],
    /// All resources to be.
    pub resources: &'a [ResourceEntry],
    /// Bytes of those resources that may not be stored yet.
    pub new_files: &'a [Vec<u8>],
    /// The state this was made from, as it was locked; `None` for a new skill.
    pub base: Option<&'a SkillState>,
    /// Who first wrote it, where it is new.
    pub source: Source,
    /// The kind of change, for the history.
    pub kind: ChangeKind,
    /// The session it comes from.
    pub session: Option<&'a str>,
    /// The origins of its text, for the taint.
    pub lineage: Lineage<'a>,
    /// The jobs that it calls for, and what it makes out of date.
    pub follow_up: FollowUp<'a>,
    /// Who made it, where it is not the caller.
    pub author: Option<&'a str>,
    /// Whether a tainted text must be reviewed before it is anybody's skill. The write fails with
    /// [`MustBeReviewed`](knowhow_domain::Error::MustBeReviewed) then.
    pub is_reviewed: bool,
    /// Recognises a repeated patch.
    pub request_digest: Option<[u8; 32]>,
    /// When the change is made.
    pub now: DateTime<Utc>,
}

/// Where a text comes from, so that it stays as tainted as that.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lineage<'a> {
    /// Every session that the request names, by id or key: the taint of each marks the text.
    pub named: &'a [&'a str],
    /// Whether the text is made by changing the one before it, and so has its taint. Else it has that only where longer lines
    /// of tainted texts are in it.
    pub derived: bool,
    /// What an archive says that the text was tainted by, where it comes from one that does.
    pub brought: Option<&'a [String]>,
}

/// The jobs that a change calls for, and the derived texts and vectors that it makes out of date.
#[derive(Debug, Clone, Copy, Default)]
pub struct FollowUp<'a> {
    /// Tasks of jobs about the skill, which are enqueued with the change.
    pub tasks: &'a [&'a str],
    /// Whether nobody waits for those jobs: they run after jobs that persons cause, and in turn with other tenants'
    /// bulk.
    pub is_bulk: bool,
    /// Whether the embedded text changes. If so, the old vectors are removed, so that a process with the model makes
    /// new ones.
    pub outdates_vectors: bool,
    /// The model whose vector stays nevertheless, as one of the jobs replaces it.
    pub replaced_by: Option<&'a str>,
    /// Whether the text says other relations than before, so that a job reads it for them.
    pub relates: bool,
    /// Whether the index line that a model wrote says something untrue.
    pub outdates_summary: bool,
}

/// A change that is on its way.
pub struct Written {
    pub id: SkillId,
    pub version: i32,
    /// Skills the user will have.
    pub skill_count: i32,
    /// Bytes of the user's skills.
    pub byte_count: i64,
    /// Bytes of all that is kept of the user's skills, with history and archive: at most so many.
    pub most_stored_bytes: i64,
    pub(super) answer: Answer<WrittenRow>,
}

/// What the statement of a change found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenOutcome {
    /// Whether the version is tainted.
    pub tainted: bool,
    /// The skill's uses.
    pub times_used: i64,
    /// The last of them.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The revision of the user's catalogue that it has made.
    pub revision: i64,
    /// The stamp of the skill's text by now, see [`Stamp`](super::Stamp).
    pub stamp: i64,
}

impl Written {
    /// What the statement found out, once it was sent.
    ///
    /// # Errors
    /// `Internal` before that.
    pub fn outcome(self) -> Result<WrittenOutcome> {
        let row = self.answer.take()?.pop().ok_or_else(|| Error::internal("a change without an outcome"))?;
        let WrittenRow { tainted, times_used, last_used_at, revision, stamp } = row;
        Ok(WrittenOutcome { tainted, times_used, last_used_at, revision, stamp })
    }
}
