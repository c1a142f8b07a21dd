//! A new submission: its author, the proposed state of a skill, and the role of the chat model.

use chrono::{DateTime, Utc};
use knowhow_domain::{Check, ResourceEntry, SkillId, SubmissionKind};

/// The proposed state of a skill. The default value proposes to delete the skill.
#[derive(Default)]
pub struct Proposed<'a> {
    /// The new SKILL.md; `None` for a deletion.
    pub document: Option<&'a str>,
    /// All resources of the new state.
    pub resources: &'a [ResourceEntry],
    /// Contents of resources that might not be stored yet.
    pub new_files: &'a [Vec<u8>],
    /// The proposed pin, if it changes. The pin is not part of the text.
    pub pinned: Option<bool>,
    /// Digest of the request, which identifies a repeated request.
    pub request_digest: Option<[u8; 32]>,
    /// Whether the new state is derived from the previous state and inherits its taint.
    pub derived: bool,
    /// Additional sources of taint, e.g. from an imported archive. `None` adds no source.
    pub brought: Option<&'a [String]>,
    /// Skill that replaces the deleted skill; `None` if no skill replaces it.
    pub successor: Option<(SkillId, &'a str)>,
}

/// A submission to store.
pub struct Proposing<'a> {
    /// The skill to change; `None` for a new skill.
    pub skill: Option<SkillId>,
    pub name: &'a str,
    pub kind: SubmissionKind,
    /// Origin to record if the skill is new.
    pub source: &'a str,
    pub session: Option<&'a str>,
    /// All sessions named by the request, by id or key.
    pub named: &'a [&'a str],
    /// Submitter, if it is not the caller.
    pub submitter: Option<&'a str>,
    /// The submitter's reason, if given.
    pub reason: Option<&'a str>,
    /// Version and digest of the state that the proposal is based on; `None` for a new skill.
    pub base: Option<(i32, &'a [u8])>,
    /// The proposed state.
    pub result: Proposed<'a>,
    pub checks: &'a [Check],
    /// Role of the chat model.
    pub model: ModelReads,
    pub now: DateTime<Utc>,
}

/// Role of the chat model for a submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelReads {
    /// The model does not read the submission.
    #[default]
    Nothing,
    /// The model reads the submission to inform the reviewer.
    ForPerson,
    /// The model decides, unless the submission is tainted.
    AndDecides,
}
