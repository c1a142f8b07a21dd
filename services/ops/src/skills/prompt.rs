//! Renders a user's skills for a prompt.

use knowhow_domain::skills::index::{INDEX_BUDGET, render_index};
use knowhow_domain::{Result, Scope, SnapshotForm};
use knowhow_store::skills;

use crate::Ctx;
use crate::sessions::snapshots::{index_lines, print_beside, take_turn};

/// Returns the index of the user's skills, for agents with all tools. Returns an empty string if the user has no
/// skills.
pub async fn index_block(ctx: &Ctx) -> Result<String> {
    ctx.principal.require(Scope::SkillsRead)?;
    let _turn = take_turn(ctx).await?;
    let rows = skills::list_index(&ctx.app.db, &ctx.principal).await?;
    let count = rows.len();
    let print = move || render_index(&index_lines(&rows), INDEX_BUDGET, &SnapshotForm::FULL.index()).text;
    print_beside(count, print).await
}
