//! Lists the learned examples of a skill.

use knowhow_domain::{Example, ExampleId, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::learning::examples;
use knowhow_store::skills::{self, SkillKey};

use crate::Ctx;
use crate::context::lookup::{self, NameMatching};
use crate::context::page::{Page, PageQuery, rows_for};

/// A request to list examples.
#[derive(Debug, Clone, Default)]
pub struct ListExamples {
    /// The skill, by name or id.
    pub skill: String,
    pub page: PageQuery,
}

/// Lists the examples of a skill, newest first.
///
/// # Errors
/// `NotFound`; `Malformed` for a cursor that this service did not issue.
pub async fn list_examples(ctx: &Ctx, query: &ListExamples) -> Result<Page<Example>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<ExampleId>()?);
    let found = lookup::find(ctx, &query.skill, NameMatching::Successor, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.list").await?;
        let (id, _) = skills::look_up(&mut tx, key).await?.ok_or_else(lookup::missing)?;
        let rows = examples::list(&mut tx, id, before, rows_for(limit)).await?;
        tx.commit().await?;
        Ok(rows)
    })
    .await?;
    Page::of(found.item, limit, |last| last.id)
}
