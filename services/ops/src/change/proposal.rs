//! Describes how a verb, such as save or patch, changes a skill, and the result of the change.

use knowhow_domain::{Error, Result, SkillId, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::skills::{AdditionalReads, Count, Locked, QueuedChange, SkillState};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::draft::{Draft, Replaced};
use crate::Ctx;
use crate::change::stored_answers::ShowsSkill;
use crate::context::lookup::{self, NameMatching};
use crate::skills::Skill;

/// Describes a change to one skill: its target and the proposed state.
pub(crate) trait SkillChange {
    /// Returns the skill to change.
    fn target(&self) -> Target<'_>;

    /// Returns the data that `propose` needs in addition to the current state.
    fn reads(&self) -> AdditionalReads {
        AdditionalReads::default()
    }

    /// Returns whether `propose` reads only the skill from the database, so that it can run on a cached copy.
    fn needs_only_the_skill(&self) -> bool {
        false
    }

    /// Proposes the new state. `current` is the locked skill; `None` if it does not exist.
    async fn propose(&self, ctx: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange>;

    /// Returns the source that is stored with a new skill.
    fn source(&self, ctx: &Ctx) -> Source {
        author(ctx)
    }

    /// Returns whether the request makes many changes. Their vectors are then computed as bulk work, as no caller
    /// waits for them.
    fn is_bulk(&self) -> bool {
        false
    }
}

/// A change requested by a caller. Its answer can be repeated under an idempotency key.
pub(crate) trait SkillVerb: SkillChange {
    /// The name of the transaction in the log.
    const NAME: &'static str;

    type Answer: Serialize + DeserializeOwned + Clone + ShowsSkill;

    /// Returns the request that an idempotency key is bound to. A request with the same key and other content is
    /// rejected.
    fn request(&self) -> impl Serialize;

    /// Builds the answer to the caller.
    fn answer(&self, changed: ChangeResult) -> Self::Answer;
}

/// The skill to change.
pub(crate) enum Target<'a> {
    /// An existing skill, by the name or id in the request.
    Called(&'a str, NameMatching),
    /// The skill of exactly this name, which may be new.
    Named(&'a SkillName),
}

pub(crate) enum ProposedChange {
    /// The skill stays unchanged, because the request was already applied.
    Keep,
    /// Write the draft's text, files and flags. If text and files equal the current ones, no version is created.
    Write(Box<Draft>),
    Delete(Option<Successor>),
}

/// The skill that replaces a deleted skill, and is found by the name of the deleted skill.
pub(crate) struct Successor {
    pub(crate) id: SkillId,
    pub(crate) name: String,
}

/// The result of a change.
pub(crate) struct ChangeResult {
    /// The skill after the change; for a delete, the skill before it.
    pub(crate) skill: Skill,
    pub(crate) created: bool,
    /// Whether the skill is new and the user's only skill.
    pub(crate) is_first: bool,
    pub(crate) unchanged: bool,
    pub(crate) replaced: Replaced,
    /// The name of the skill that replaces the deleted skill; `None` if no skill replaces it.
    pub(crate) successor: Option<String>,
    /// Whether the embedded text has changed, so that the skill needs a new vector.
    pub(crate) says_else: bool,
    /// The queued version, if one is created.
    pub(crate) written: Option<QueuedChange>,
    /// The state of the queued version; `None` if no version is created.
    pub(crate) state: Option<SkillState>,
}

impl ChangeResult {
    /// Returns the result of a change without effect.
    pub(crate) fn nothing(locked: Locked) -> Self {
        let Locked { skill, times_used, last_used_at, .. } = locked;
        let skill = Skill::of(skill, Count { times_used, last_used_at });
        let replaced = Replaced::NOTHING;
        Self {
            skill,
            created: false,
            is_first: false,
            unchanged: true,
            replaced,
            successor: None,
            says_else: false,
            written: None,
            state: None,
        }
    }
}

/// Rejects a change that is based on a version other than the current one; version 0 stands for a skill that does not
/// exist. If enrichment created the current version, the version that it enriched is accepted too, because the
/// service's own changes must not cause conflicts.
pub(crate) fn check_version(expected: Option<i32>, current: Option<&Locked>) -> Result<()> {
    let is_base = |version| current.map_or(version == 0, |current| current.is_at(version));
    match expected {
        Some(version) if !is_base(version) => {
            Err(Error::VersionConflict { current_version: current.map_or(0, |current| current.skill.version) })
        }
        _ => Ok(()),
    }
}

/// Returns the existing skill, after a check of the expected version.
pub(crate) fn existing(current: Option<&Locked>, expected: Option<i32>) -> Result<&Locked> {
    check_version(expected, current)?;
    current.ok_or_else(lookup::missing)
}

/// Returns the source of a new skill: `Agent` for a change within a session, over MCP or with an API key, otherwise
/// `User`.
pub(crate) fn author(ctx: &Ctx) -> Source {
    let Ctx { principal, call, .. } = ctx;
    if call.by_agent || call.session.is_some() || principal.is_backend() { Source::Agent } else { Source::User }
}
