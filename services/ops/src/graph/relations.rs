//! Relations of a skill: lists, declares and removes them.

use knowhow_domain::graph::{Relation, RelationType};
use knowhow_domain::{Error, Result, Scope, SkillId};
use knowhow_store::graph::{self, DeclaredRelation, RELATIONS_PER_SKILL};
use knowhow_store::{WriteTx, skills};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::knowledge::rank_of;
use crate::Ctx;
use crate::change::guard::guard_skill;
use crate::context::lookup::{self, NameMatching};

/// The relations of a skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Relations {
    /// The relations, strongest first, at most 200.
    pub items: Vec<Relation>,
}

/// Identifies a relation: `{skill}` `{kind}` `{other}`.
#[derive(Debug, Clone, Serialize)]
pub struct RelationPath {
    /// The skill that the relation starts from, by name or id.
    pub skill: String,
    pub kind: RelationType,
    /// The other skill, by name or id.
    pub other: String,
}

/// Lists the relations of a skill.
pub async fn list_relations(ctx: &Ctx, skill: &str) -> Result<Relations> {
    ctx.principal.require(Scope::SkillsRead)?;
    let rank = rank_of(ctx, skill).await?;
    let items = graph::list_relations(&ctx.app.db, &ctx.principal, rank.id, ctx.now()).await?;
    Ok(Relations { items })
}

/// Declares a relation between two skills. Returns whether the relation is new; declaring an existing relation has no
/// effect.
///
/// # Errors
/// `NotFound`; `Invalid` for a relation of a skill to itself, and for a type that is only computed; `Quota` if the
/// skill has the maximum number of declared relations; `Conflict` `needs-review`.
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

/// Removes a declared or computed relation.
///
/// # Errors
/// `NotFound` for a skill or the relation; `Conflict` `relation-in-text` if the skill's own text states it, or
/// `needs-review`.
pub async fn remove_relation(ctx: &Ctx, path: &RelationPath) -> Result<()> {
    change(ctx, "relations.remove", path, async |tx, declared| {
        let removed = graph::remove(tx, &declared).await?;
        match (removed.is_removed, removed.is_said) {
            (true, _) => Ok(()),
            (false, true) => Err(Error::Conflict {
                code: "relation-in-text",
                detail: "a skill's own text states this relation; change the text to remove it".into(),
            }),
            (false, false) => Err(Error::not_found("relation")),
        }
    })
    .await
}

/// Finds both skills in a transaction, and runs `act` on their relation, once per idempotency key.
async fn change<T: Serialize + DeserializeOwned + Clone>(
    ctx: &Ctx,
    name: &'static str,
    path: &RelationPath,
    act: impl AsyncFnOnce(&mut WriteTx, DeclaredRelation<'_>) -> Result<T>,
) -> Result<T> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, name).await?;
    let done = ctx
        .once(&mut tx, &(name, path), async |tx| {
            guard_skill(ctx, tx).await?;
            let (from, from_name, _) = lookup::find_in(tx, &path.skill, NameMatching::Segment, skills::find).await?;
            let (to, to_name, _) = lookup::find_in(tx, &path.other, NameMatching::Segment, skills::find).await?;
            refuse_itself(from, to)?;
            let (from, to) = ((from, from_name.as_str()), (to, to_name.as_str()));
            act(tx, DeclaredRelation { kind: path.kind, from, to, now: ctx.now() }).await
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
