//! What of a user's skills goes into a prompt.

use knowhow_domain::index::{INDEX_BUDGET, render_index};
use knowhow_domain::{Form, Result, Scope};
use knowhow_store::skills;

use crate::Ctx;
use crate::snapshots::{index_lines, print_beside, take_turn};

/// Renders the user's index block for agents with all tools; empty where there are no skills.
///
/// # Errors
/// `Unavailable`.
pub async fn index_block(ctx: &Ctx) -> Result<String> {
    ctx.principal.require(Scope::SkillsRead)?;
    let _turn = take_turn(ctx).await?;
    let rows = skills::list_index(&ctx.app.db, &ctx.principal).await?;
    let count = rows.len();
    let print = move || render_index(&index_lines(&rows), INDEX_BUDGET, &Form::FULL.index()).text;
    print_beside(count, print).await
}
