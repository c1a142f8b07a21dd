//! Delete: gone from everything an agent can reach, at once; what absorbed it answers to its name.

use chrono::TimeDelta;
use knowhow_domain::{ArchiveId, Error, Result, Scope, SkillId, new_id};
use knowhow_store::skills::{self, Archived, Locked, SkillState};
use knowhow_store::{WriteTx, examples, history};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::change::{Changed, Proposal, SkillChange, SkillVerb, Successor, Target, change_skill, existing};
use super::kept::ShowsSkill;
use crate::Ctx;
use crate::examples::SAME_UP_TO;
use crate::lookup::{self, Reach};

/// Most other names that a skill answers to.
pub const NAMES: i64 = 1_000;

/// Options of a delete.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct DeleteSkill {
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// The skill that replaces it: from now on it answers to this one's name too.
    #[schema(max_length = 200)]
    pub absorbed_into: Option<String>,
    /// The version that is current, where it matters.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// The result of a delete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Deleted {
    /// The full name that was deleted.
    pub name: String,
    /// That of the skill that answers to it now.
    pub absorbed_into: Option<String>,
}

/// Deletes a skill.
///
/// # Errors
/// `NotFound`; `Conflict` `pinned`; `Invalid` for an `absorbed_into` that is the skill itself or does not exist; `Quota` where
/// that answers to as many names as can be.
pub async fn delete_skill(ctx: &Ctx, input: &DeleteSkill) -> Result<Deleted> {
    ctx.principal.require(Scope::SkillsWrite)?;
    change_skill(ctx, input).await
}

impl ShowsSkill for Deleted {}

impl SkillChange for DeleteSkill {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.skill, Reach::Exact)
    }

    async fn propose(&self, _: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let skill = &existing(current, self.expected_version)?.skill;
        if skill.pinned {
            let detail = format!("'{}' is pinned; unpin it first", skill.name);
            return Err(Error::Conflict { code: "pinned", detail });
        }
        let successor = match &self.absorbed_into {
            Some(name) => Some(find_successor(tx, name, skill.id).await?),
            None => None,
        };
        Ok(Proposal::Delete(successor))
    }
}

impl SkillVerb for DeleteSkill {
    const NAME: &'static str = "skills.delete";
    type Answer = Deleted;

    fn request(&self) -> impl Serialize {
        ("delete", &self.skill, self)
    }

    fn answer(&self, changed: Changed) -> Deleted {
        Deleted { name: changed.skill.name, absorbed_into: changed.successor }
    }
}

/// The skill that is to answer to the name of `absorbed`.
async fn find_successor(tx: &mut WriteTx, name: &str, absorbed: SkillId) -> Result<Successor> {
    let (id, name) = match lookup::find_in(tx, name, Reach::Successor, skills::find).await {
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
        let detail = format!("the skill answers to {NAMES} other names, the limit; delete without absorbed_into");
        return Err(Error::Quota(detail));
    }
    Ok(Successor { id, name })
}

/// A locked skill that goes.
pub(crate) struct Going<'a> {
    pub(crate) skill: &'a SkillState,
    pub(crate) successor: Option<&'a Successor>,
    /// Whether it must be reviewed where a tainted session asks for it.
    pub(crate) is_reviewed: bool,
}

/// Puts a skill away, with what it has learned for its successor. Returns its entry in the archive.
pub(crate) async fn archive(ctx: &Ctx, tx: &mut WriteTx, going: Going<'_>) -> Result<ArchiveId> {
    let Going { skill, successor, is_reviewed } = going;
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
        // What one step leaves of a long history, clearing up takes.
        history::clear_deleted(tx, now).await?;
    }
    let most = settings.most_stored_bytes();
    if stored.unsigned_abs() > most {
        history::make_room(tx, most, now).await?;
    }
    Ok(id)
}
