//! What of a user's skills goes into a prompt.

use knowhow_domain::index::{INDEX_BUDGET, IndexLine, render_index};
use knowhow_domain::{Result, Scope};
use knowhow_store::Principal;
use knowhow_store::skills;

use crate::{App, compute};

/// Renders the user's index block; empty where there are no skills.
///
/// # Errors
/// `Unavailable`.
pub async fn index_block(app: &App, principal: &Principal) -> Result<String> {
    principal.require(Scope::SkillsRead)?;
    let rows = skills::list_index(&app.db, principal).await?;
    compute(move || {
        let lines: Vec<IndexLine<'_>> = rows
            .iter()
            .map(|row| IndexLine {
                name: &row.name,
                summary: row.summary.as_deref(),
                description: &row.description,
                importance: row.importance,
            })
            .collect();
        Ok(render_index(&lines, INDEX_BUDGET).text)
    })
    .await
}
