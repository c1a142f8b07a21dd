//! Deletes learned examples of a skill, one or all.

use knowhow_domain::{Error, ExampleId, Result, Scope};
use knowhow_store::learning::examples;
use knowhow_store::{WriteTx, skills};

use crate::Ctx;
use crate::change::guard::guard_skill;
use crate::context::lookup::{self, NameMatching};

/// A request to delete an example.
#[derive(Debug, Clone)]
pub struct DeleteExample {
    /// The skill, by name or id.
    pub skill: String,
    pub example: String,
}

/// Deletes one example of a skill.
///
/// # Errors
/// `NotFound` for the skill or the example; `Conflict` `needs-review`.
pub async fn delete_example(ctx: &Ctx, input: &DeleteExample) -> Result<()> {
    // An invalid id matches no example; a missing skill is reported first.
    let id = input.example.trim().parse().unwrap_or_default();
    let gone = remove(ctx, &input.skill, Some(id)).await?;
    if gone == 0 { Err(Error::not_found("example")) } else { Ok(()) }
}

/// Deletes all examples of a skill.
pub async fn delete_examples(ctx: &Ctx, skill: &str) -> Result<()> {
    remove(ctx, skill, None).await.map(|_| ())
}

async fn remove(ctx: &Ctx, skill: &str, example: Option<ExampleId>) -> Result<i64> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.delete").await?;
    let gone = ctx
        .once(&mut tx, &("examples.delete", skill, example), async |tx| {
            guard_skill(ctx, tx).await?;
            let (id, _, _) = lookup::find_in(tx, skill, NameMatching::Exact, skills::find).await?;
            examples::remove(tx, id, example).await
        })
        .await?;
    tx.commit().await?;
    Ok(gone)
}
