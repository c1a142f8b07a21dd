//! The relations of a skill: all of them, and those that somebody declares.

use knowhow_domain::graph::{Relation, RelationType};
use knowhow_domain::{Error, Result, Scope, SkillId};
use knowhow_store::graph::{self, Declared, RELATIONS_PER_SKILL};
use knowhow_store::{WriteTx, skills};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::knowledge::standing_of;
use crate::Ctx;
use crate::lookup::{self, Reach};

/// The relations of a skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Relations {
    /// The strongest first, at most 200.
    pub items: Vec<Relation>,
}

/// Names a relation: `{skill}` is `{kind}` to `{other}`.
#[derive(Debug, Clone, Serialize)]
pub struct RelationPath {
    /// The skill that it starts from, by name or id.
    pub skill: String,
    pub kind: RelationType,
    /// The other one, by name or id.
    pub other: String,
}

/// What a skill has to do with others.
///
/// # Errors
/// `NotFound`.
pub async fn list_relations(ctx: &Ctx, skill: &str) -> Result<Relations> {
    ctx.principal.require(Scope::SkillsRead)?;
    let standing = standing_of(ctx, skill).await?;
    let items = graph::list_relations(&ctx.app.db, &ctx.principal, standing.id, ctx.now()).await?;
    Ok(Relations { items })
}

/// Declares a relation between two skills; whether it is a new one. Declared again, it is the same one.
///
/// # Errors
/// `NotFound`; `Invalid` for a skill's relation to itself and for what is only ever computed; `Quota` where the skill has as
/// many as can be.
pub async fn declare_relation(ctx: &Ctx, path: &RelationPath) -> Result<bool> {
    if path.kind == RelationType::OftenUsedWith {
        let detail = "often_used_with is computed from memories that name both skills; declare complements instead";
        return Err(Error::invalid("/type", detail));
    }
    let declared = change(ctx, "relations.declare", path, async |tx, declared| {
        graph::declare(tx, &declared).await?.ok_or_else(full)
    });
    declared.await
}

fn full() -> Error {
    Error::Quota(format!("a skill has at most {RELATIONS_PER_SKILL} declared relations; remove some first"))
}

/// Takes a declared or computed relation back.
///
/// # Errors
/// `NotFound`, for a skill or the relation; `Conflict` `relation-in-text` where the skill's own text says it.
pub async fn remove_relation(ctx: &Ctx, path: &RelationPath) -> Result<()> {
    change(ctx, "relations.remove", path, async |tx, declared| {
        let removed = graph::remove(tx, &declared).await?;
        match (removed.is_removed, removed.is_said) {
            (true, _) => Ok(()),
            (false, true) => Err(Error::Conflict {
                code: "relation-in-text",
                detail: "a skill's own text says so: change that text, and the relation goes with it".into(),
            }),
            (false, false) => Err(Error::not_found("relation")),
        }
    })
    .await
}

/// Finds both skills in a transaction, and does something with their relation there, once.
async fn change<T: Serialize + DeserializeOwned + Clone>(
    ctx: &Ctx,
    name: &'static str,
    path: &RelationPath,
    act: impl AsyncFnOnce(&mut WriteTx, Declared<'_>) -> Result<T>,
) -> Result<T> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, name).await?;
    let done = ctx
        .once(&mut tx, &(name, path), async |tx| {
            let (from, from_name, _) = lookup::find_in(tx, &path.skill, Reach::Segment, skills::find).await?;
            let (to, to_name, _) = lookup::find_in(tx, &path.other, Reach::Segment, skills::find).await?;
            refuse_itself(from, to)?;
            let (from, to) = ((from, from_name.as_str()), (to, to_name.as_str()));
            act(tx, Declared { kind: path.kind, from, to, now: ctx.now() }).await
        })
        .await?;
    tx.commit().await?;
    Ok(done)
}

fn refuse_itself(from: SkillId, to: SkillId) -> Result<()> {
    if from == to {
        Err(Error::invalid("/other", "a skill has no relation to itself; name another one"))
    } else {
        Ok(())
    }
}
