//! A change of a skill, as [`write`](super::write()) applies it.

use chrono::{DateTime, Utc};
use knowhow_domain::{ChangeKind, ResourceEntry, SkillDocument, SkillId, SkillName, Source};
use serde_json::Value;

/// A validated new state of one skill.
pub struct Change<'a> {
    /// The full name.
    pub name: &'a SkillName,
    /// The SKILL.md to be.
    pub document: &'a SkillDocument,
    /// Its frontmatter as JSON, where hosts can be served it as it is.
    pub frontmatter: Option<Value>,
    /// All resources to be.
    pub resources: &'a [ResourceEntry],
    /// Bytes of those resources that may not be stored yet.
    pub new_files: &'a [Vec<u8>],
    /// The version this was made from; 0 for a new skill.
    pub base_version: i32,
    /// Bytes of the base, by [`super::SkillState::bytes`].
    pub base_bytes: i64,
    /// All resources of the base.
    pub base_resources: &'a [ResourceEntry],
    /// Who first wrote it, where it is new.
    pub source: Source,
    /// How.
    pub kind: ChangeKind,
    /// The session it comes from.
    pub session: Option<&'a str>,
    /// Where its text comes from.
    pub lineage: Lineage<'a>,
    /// What follows from it.
    pub follow_up: FollowUp<'a>,
    /// Recognises a repeated patch.
    pub request_digest: Option<[u8; 32]>,
    /// When.
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

/// What a change calls for, and what it makes untrue.
#[derive(Debug, Clone, Copy, Default)]
pub struct FollowUp<'a> {
    /// Tasks of jobs about the skill, which are enqueued with the change.
    pub tasks: &'a [&'a str],
    /// Whether nobody waits for those jobs: they come after what persons cause, and in turn with other tenants'.
    pub is_bulk: bool,
    /// Whether what is embedded reads otherwise: vectors of the text before are removed, so that whoever has the model
    /// makes new ones.
    pub outdates_vectors: bool,
    /// The model whose vector stays nevertheless, as one of the jobs replaces it.
    pub replaced_by: Option<&'a str>,
    /// Whether the index line that a model wrote says something untrue.
    pub outdates_summary: bool,
}

/// What [`write`] did.
#[derive(Debug, Clone)]
pub struct Written {
    /// The skill.
    pub id: SkillId,
    /// Its version now.
    pub version: i32,
    /// Whether that is tainted.
    pub tainted: bool,
    /// The index line of a model, where what it says is still true.
    pub made_summary: Option<String>,
    /// Who first wrote it.
    pub source: String,
    /// Not to be deleted or touched by a background process.
    pub pinned: bool,
    /// 0 to 1.
    pub importance: f32,
    /// SHA-256 over document and resources.
    pub digest: Vec<u8>,
    /// First saved.
    pub created_at: DateTime<Utc>,
    /// Saved last.
    pub updated_at: DateTime<Utc>,
    /// Skills the user has now.
    pub skill_count: i32,
    /// Bytes of the user's skills now.
    pub byte_count: i64,
    /// Bytes of all that is kept of the user's skills, with history and archive.
    pub stored_bytes: i64,
}
