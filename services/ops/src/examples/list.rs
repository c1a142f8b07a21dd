//! List: the messages that a skill has learned.

use knowhow_domain::{Example, ExampleId, Result, Scope};
use knowhow_store::skills::{self, SkillKey};
use knowhow_store::{WriteTx, examples};

use crate::Ctx;
use crate::lookup::{self, Reach};
use crate::page::{Page, PageQuery, rows_for};

/// Selects examples of a skill.
#[derive(Debug, Clone, Default)]
pub struct ListExamples {
    /// The skill, by name or id.
    pub skill: String,
    /// The page to read.
    pub page: PageQuery,
}

/// Lists the examples of a skill, the newest first.
///
/// # Errors
/// `NotFound`; `Malformed` for a cursor that this service did not issue.
pub async fn list_examples(ctx: &Ctx, query: &ListExamples) -> Result<Page<Example>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<ExampleId>()?);
    let found = lookup::find(ctx, &query.skill, Reach::Successor, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.list").await?;
        let (id, _) = skills::look_up(&mut tx, key).await?.ok_or_else(lookup::missing)?;
        let rows = examples::list(&mut tx, id, before, rows_for(limit)).await?;
        tx.commit().await?;
        Ok(rows)
    })
    .await?;
    Page::of(found.item, limit, |last| last.id)
}
