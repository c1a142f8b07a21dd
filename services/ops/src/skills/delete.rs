//! Deletes skills. Agents cannot see a deleted skill. Another skill can take over its name as its successor.

use chrono::TimeDelta;
use knowhow_domain::{ArchiveId, Error, Result, Scope, SkillId, new_id};
use knowhow_store::WriteTx;
use knowhow_store::learning::examples;
use knowhow_store::skills::history;
use knowhow_store::skills::{self, Archived, Locked, SkillState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::change::stored_answers::ShowsSkill;
use crate::change::{ChangeResult, ProposedChange, SkillChange, SkillVerb, Successor, Target, change_skill, existing};
use crate::context::lookup::{self, NameMatching};
use crate::learning::examples::SAME_UP_TO;

/// Maximum number of names that one skill can take over.
pub const NAMES: i64 = 1_000;

/// Options for a deletion.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct DeleteSkill {
    /// The skill, by name or id; taken from the path, not from the body.
    #[serde(skip)]
    pub skill: String,
    /// The skill that replaces the deleted one. From now on it is also loaded under the deleted skill's name.
    #[schema(max_length = 200)]
    pub absorbed_into: Option<String>,
    /// The version that must be current. Omit it to delete any version.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// The result of a deletion.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Deleted {
    /// The full name of the deleted skill.
    pub name: String,
    /// The full name of the skill that took over the deleted skill's name.
    pub absorbed_into: Option<String>,
}

/// Deletes a skill. It is moved to the archive.
///
/// # Errors
/// `NotFound`; `Conflict` `pinned` if the skill is pinned; `Invalid` if `absorbed_into` does not exist or is the
/// skill itself; `Quota` if the successor has the maximum number of names.
pub async fn delete_skill(ctx: &Ctx, input: &DeleteSkill) -> Result<Deleted> {
    ctx.principal.require(Scope::SkillsWrite)?;
    change_skill(ctx, input).await
}

impl ShowsSkill for Deleted {}

impl SkillChange for DeleteSkill {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.skill, NameMatching::Exact)
    }

    async fn propose(&self, _: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let skill = &existing(current, self.expected_version)?.skill;
        if skill.pinned {
            let detail = format!("'{}' is pinned; unpin it first", skill.name);
            return Err(Error::Conflict { code: "pinned", detail });
        }
        let successor = match &self.absorbed_into {
            Some(name) => Some(find_successor(tx, name, skill.id).await?),
            None => None,
        };
        Ok(ProposedChange::Delete(successor))
    }
}

impl SkillVerb for DeleteSkill {
    const NAME: &'static str = "skills.delete";
    type Answer = Deleted;

    fn request(&self) -> impl Serialize {
        ("delete", &self.skill, self)
    }

    fn answer(&self, changed: ChangeResult) -> Deleted {
        Deleted { name: changed.skill.name, absorbed_into: changed.successor }
    }
}

/// Finds the skill that takes over the name of `absorbed`.
async fn find_successor(tx: &mut WriteTx, name: &str, absorbed: SkillId) -> Result<Successor> {
    let (id, name) = match lookup::find_in(tx, name, NameMatching::Successor, skills::find).await {
        Ok((id, name, _)) => (id, name),
        Err(error @ (Error::NotFound { .. } | Error::AmbiguousName { .. })) => {
            return Err(Error::invalid("/absorbed_into", error.to_string()));
        }
        Err(other) => return Err(other),
    };
    if id == absorbed {
        return Err(Error::invalid("/absorbed_into", "a skill cannot be absorbed into itself"));
    }
    if skills::count_names(tx, &[id, absorbed]).await? >= NAMES {
        let detail = format!("the skill has {NAMES} other names, the limit; delete without absorbed_into");
        return Err(Error::Quota(detail));
    }
    Ok(Successor { id, name })
}

/// A locked skill to delete, with its successor.
pub(crate) struct SkillToDelete<'a> {
    pub(crate) skill: &'a SkillState,
    pub(crate) successor: Option<&'a Successor>,
    /// Whether the deletion needs a review if the session is tainted.
    pub(crate) is_reviewed: bool,
}

/// Moves a skill to the archive, and its examples to the successor. Returns the id of the entry in the archive.
pub(crate) async fn archive(ctx: &Ctx, tx: &mut WriteTx, deletion: SkillToDelete<'_>) -> Result<ArchiveId> {
    let SkillToDelete { skill, successor, is_reviewed } = deletion;
    if let Some(successor) = successor {
        examples::hand_over(tx, skill.id, successor.id, SAME_UP_TO);
    }
    let now = ctx.now();
    let settings = ctx.principal.settings();
    let purge_at = now + TimeDelta::days(settings.archive_days.into());
    let successor = successor.map(|successor| (successor.id, successor.name.as_str()));
    let named = ctx.call.named(None);
    let id = ArchiveId(new_id());
    let stored = skills::archive(tx, &Archived { id, skill, successor, named: &named, is_reviewed, now, purge_at })?;
    if settings.archive_days == 0 {
        // Deletes the first part of a long history. The cleanup job deletes the rest.
        history::clear_deleted(tx, now).await?;
    }
    let most = settings.most_stored_bytes();
    if stored.unsigned_abs() > most {
        history::make_room(tx, most, now).await?;
    }
    Ok(id)
}
