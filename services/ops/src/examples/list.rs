//! List: the messages that a skill has learned.

use knowhow_domain::{Example, Result, Scope};
use knowhow_store::examples;
use knowhow_store::skills::{self, SkillKey};
use knowhow_store::{Principal, TenantTx};
use uuid::Uuid;

use crate::App;
use crate::page::{Page, PageQuery, rows_for};
use crate::skills::lookup::{self, Reach};

/// Lists the examples of a skill, the newest first.
///
/// # Errors
/// `NotFound`; `Malformed` for a cursor that is none of ours.
pub async fn list_examples(app: &App, principal: &Principal, skill: &str, page: &PageQuery) -> Result<Page<Example>> {
    principal.require(Scope::SkillsRead)?;
    let (limit, before) = (page.limit()?, page.after::<Uuid>()?);
    let found = lookup::find(app, principal, skill, Reach::Successor, async |key: &SkillKey| {
        let mut tx = TenantTx::begin(&app.db, principal).await?;
        let (id, _) = skills::look_up(&mut tx, key).await?.ok_or_else(lookup::missing)?;
        let rows = examples::list(&mut tx, id, before, rows_for(limit)).await?;
        tx.commit().await?;
        Ok(rows)
    })
    .await?;
    Page::of(found.item, limit, |last| last.id)
}
