//! List: the messages that a skill has learned.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Scope};
use knowhow_store::examples::{self, Example};
use knowhow_store::skills::{self, SkillKey};
use knowhow_store::{Principal, WriteTx};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::App;
use crate::page::{Page, PageQuery, rows_for};
use crate::skills::lookup::{self, Reach};

/// A message after which a skill was used: messages like it find the skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ExampleView {
    /// Its id.
    pub id: Uuid,
    /// The message, its first 300 characters at most.
    #[schema(example = "send the report to Ann by mail")]
    pub message: String,
    /// When the skill was first used after it.
    pub learned_at: DateTime<Utc>,
    /// When last, after it or one that says the same.
    pub confirmed_at: DateTime<Utc>,
    /// In how many turns.
    #[schema(minimum = 1)]
    pub confirmations: i32,
}

/// Lists the examples of a skill, the newest first.
///
/// # Errors
/// `NotFound`; `Malformed` for a cursor that is none of ours.
pub async fn list_examples(
    app: &App,
    principal: &Principal,
    skill: &str,
    page: &PageQuery,
) -> Result<Page<ExampleView>> {
    principal.require(Scope::SkillsRead)?;
    let (limit, before) = (page.limit()?, page.after::<Uuid>()?);
    let found = lookup::find(app, principal, skill, Reach::Successor, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&app.db, principal, "examples.list").await?;
        let (id, _) = skills::look_up(&mut tx, key).await?.ok_or_else(lookup::missing)?;
        let rows = examples::list(&mut tx, id, before, rows_for(limit)).await?;
        tx.commit().await?;
        Ok(rows)
    })
    .await?;
    Page::of(found.item, limit, |last| last.id, ExampleView::of)
}

impl ExampleView {
    fn of(row: Example) -> Self {
        let Example { id, message, learned_at, confirmed_at, confirmations } = row;
        Self { id, message, learned_at, confirmed_at, confirmations }
    }
}
