//! Delete: gone from everything an agent can reach, at once; what absorbed it answers to its name.

use chrono::TimeDelta;
use knowhow_domain::{Error, Result, Scope, SkillId};
use knowhow_store::skills::{self, Archived, SkillKey};
use knowhow_store::{Principal, WriteTx, examples, history};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::check_version;
use super::lookup::{self, Reach};
use crate::examples::SAME_UP_TO;
use crate::{App, Call};

/// Most other names that a skill answers to.
pub const NAMES: i64 = 1_000;

/// How to delete.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteSkill {
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
pub async fn delete_skill(
    app: &App,
    principal: &Principal,
    call: &Call,
    skill: &str,
    input: &DeleteSkill,
) -> Result<Deleted> {
    principal.require(Scope::SkillsWrite)?;
    call.check()?;
    let successor = match &input.absorbed_into {
        Some(name) => Some(find_successor(app, principal, name).await?),
        None => None,
    };
    let found = lookup::find(app, principal, skill, Reach::Exact, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&app.db, principal, "skills.delete").await?;
        let name = call
            .once(app, &mut tx, &("delete", skill, input), async |tx| {
                delete(app, principal, tx, key, (input, successor.as_ref())).await
            })
            .await?;
        tx.commit().await?;
        Ok(name)
    })
    .await?;
    Ok(Deleted { name: found.item, absorbed_into: successor.map(|(_, name)| name) })
}

async fn find_successor(app: &App, principal: &Principal, name: &str) -> Result<(SkillId, String)> {
    let found = lookup::find(app, principal, name, Reach::Successor, async |key: &SkillKey| {
        let loaded = skills::peek(&app.db, principal, key).await?.ok_or_else(lookup::missing)?;
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
    app: &App,
    principal: &Principal,
    tx: &mut WriteTx,
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
        examples::hand_over(tx, skill.id, *id, SAME_UP_TO);
    }
    let now = app.now();
    let days = principal.settings().archive_days;
    let purge_at = now + TimeDelta::days(i64::from(days));
    let successor = successor.map(|(id, name)| (*id, name.as_str()));
    let stored = skills::archive(tx, &Archived { skill: &skill, successor, now, purge_at })?;
    if days == 0 {
        // What one step leaves of a long history, clearing up takes.
        history::clear_deleted(tx, now).await?;
    }
    let most = principal.settings().most_stored_bytes();
    if stored.unsigned_abs() > most {
        history::make_room(tx, most, now).await?;
    }
    Ok(skill.name)
}
