//! Delete: gone from everything an agent can reach, at once; what absorbed it answers to its name.

use chrono::TimeDelta;
use knowhow_domain::{Error, Result, Scope, SkillId};
use knowhow_store::skills::{self, Archived, SkillKey};
use knowhow_store::{TenantTx, examples, history};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::check_version;
use super::lookup::{self, Reach};
use crate::Ctx;
use crate::examples::SAME_UP_TO;

/// Most other names that a skill answers to.
pub const NAMES: i64 = 1_000;

/// How to delete.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteSkill {
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// The skill that replaces it: from now on it answers to this one's name too.
    #[schema(example = "mcp/guide", max_length = 200)]
    pub absorbed_into: Option<String>,
    /// The version that is current, where it matters.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// What a delete came to.
#[derive(Debug, Clone)]
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
    let successor = match &input.absorbed_into {
        Some(name) => Some(find_successor(ctx, name).await?),
        None => None,
    };
    let found = lookup::find(ctx, &input.skill, Reach::Exact, async |key: &SkillKey| {
        let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal).await?;
        let name = ctx
            .once(&mut tx, &("delete", &input.skill, input), async |tx| {
                delete(ctx, tx, key, (input, successor.as_ref())).await
            })
            .await?;
        tx.commit().await?;
        Ok(name)
    })
    .await?;
    Ok(Deleted { name: found.item, absorbed_into: successor.map(|(_, name)| name) })
}

async fn find_successor(ctx: &Ctx, name: &str) -> Result<(SkillId, String)> {
    let found = lookup::find(ctx, name, Reach::Successor, async |key: &SkillKey| {
        let loaded = skills::peek(&ctx.app.db, &ctx.principal, key).await?.ok_or_else(lookup::missing)?;
        Ok((loaded.skill.id, loaded.skill.name))
    })
    .await;
    match found {
        Ok(found) => Ok(found.item),
        Err(error @ (Error::NotFound { .. } | Error::AmbiguousName { .. })) => {
            Err(Error::invalid("/absorbed_into", error.to_string()))
        }
        Err(other) => Err(other),
    }
}

async fn delete(
    ctx: &Ctx,
    tx: &mut TenantTx,
    key: &SkillKey,
    (input, successor): (&DeleteSkill, Option<&(SkillId, String)>),
) -> Result<String> {
    let locked = skills::lock(tx, key).await?.ok_or_else(lookup::missing)?;
    check_version(input.expected_version, Some(&locked))?;
    let skill = locked.skill;
    if skill.pinned {
        let detail = format!(
            "'{}' is pinned; unpin it first: PUT /v1/skills/{}/fields with {{\"pinned\": false}}",
            skill.name,
            skill.name.replace('/', "%2F")
        );
        return Err(Error::Conflict { code: "pinned", detail });
    }
    if let Some((id, name)) = successor {
        if *id == skill.id {
            return Err(Error::invalid("/absorbed_into", "a skill cannot be absorbed into itself"));
        }
        if skills::find(tx, &SkillKey::Id(*id)).await?.is_none() {
            return Err(Error::invalid("/absorbed_into", format!("no such skill: {name}")));
        }
        if skills::count_names(tx, *id, skill.id).await? >= NAMES {
            let detail = format!("the skill answers to {NAMES} other names, the limit; delete without absorbed_into");
            return Err(Error::Quota(detail));
        }
        examples::hand_over(tx, skill.id, *id, SAME_UP_TO).await?;
    }
    let now = ctx.now();
    let days = ctx.principal.settings().archive_days;
    let purge_at = now + TimeDelta::days(i64::from(days));
    let successor = successor.map(|(id, name)| (*id, name.as_str()));
    skills::archive(tx, &Archived { skill: &skill, successor, now, purge_at }).await?;
    if days == 0 {
        // What one step leaves of a long history, clearing up takes.
        history::clear_deleted(tx, now).await?;
    }
    let most = ctx.principal.settings().most_stored_bytes();
    history::make_room(tx, most, now).await?;
    Ok(skill.name)
}
