//! A submission that is to be written: whose it is, what it makes of a skill, and whether a chat model reads it.

use chrono::{DateTime, Utc};
use knowhow_domain::{Check, ResourceEntry, SkillId, SubmissionKind};

/// The state that a submission wants for a skill; by default, that there is none.
#[derive(Default)]
pub struct Proposed<'a> {
    /// SKILL.md; `None` where the skill is to go.
    pub document: Option<&'a str>,
    /// All resources to be.
    pub resources: &'a [ResourceEntry],
    /// Bytes of those that may not be stored yet.
    pub new_files: &'a [Vec<u8>],
    /// The flag that is no part of the text.
    pub pinned: Option<bool>,
    /// Recognises the same request when it comes again.
    pub request_digest: Option<[u8; 32]>,
    /// Whether it is made by changing the state before, and so is as tainted.
    pub derived: bool,
    /// What an archive says that it was tainted by.
    pub brought: Option<&'a [String]>,
    /// For a delete: the skill that answers to the name.
    pub successor: Option<(SkillId, &'a str)>,
}

/// A submission to write.
pub struct Proposing<'a> {
    /// The skill, where there is one.
    pub skill: Option<SkillId>,
    /// Its full name.
    pub name: &'a str,
    /// What is done to it.
    pub kind: SubmissionKind,
    /// Who a new skill is by.
    pub source: &'a str,
    /// The session it comes from.
    pub session: Option<&'a str>,
    /// Every session that the request names.
    pub named: &'a [&'a str],
    /// Who proposes it, where that is not the caller.
    pub submitter: Option<&'a str>,
    /// Why, in the submitter's words.
    pub reason: Option<&'a str>,
    /// Version and digest of the state that it was made from.
    pub base: Option<(i32, &'a [u8])>,
    /// What it makes.
    pub result: Proposed<'a>,
    /// The steps so far.
    pub checks: &'a [Check],
    /// What a chat model has to do with it.
    pub model: ModelReads,
    /// When it is proposed.
    pub now: DateTime<Utc>,
}

/// What a chat model has to do with a submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelReads {
    /// None reads it.
    #[default]
    Nothing,
    /// One reads it for whoever decides.
    ForPerson,
    /// Nothing holds it but what the model says, unless it is tainted.
    AndDecides,
}
