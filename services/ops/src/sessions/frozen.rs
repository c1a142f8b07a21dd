//! The prompt that a session froze, for agents that ask for it by MCP.

use knowhow_domain::{Result, Scope, Tools};
use knowhow_store::sessions;

use super::join::{Opens, Standing, join_session};
use super::open::fresh_snapshot;
use crate::Ctx;
use crate::snapshots::{ForTools, get_snapshot};

/// The text of the snapshot that the session began with which the call names, opened where its key names none that goes
/// on; that of the current one for agents with all tools where none is named, or none is known.
///
/// # Errors
/// `Malformed` for a name that no session can have.
pub async fn get_frozen_text(ctx: &Ctx) -> Result<String> {
    ctx.principal.require(Scope::Sessions)?;
    if let Standing::Known { id, .. } = join_session(ctx, Opens::AnyName).await?
        && let Some(mut opened) = sessions::find(&ctx.app.db, &ctx.principal, id).await?
    {
        fresh_snapshot(ctx, &mut opened).await?;
        return Ok(opened.snapshot.text);
    }
    Ok(get_snapshot(ctx, &ForTools { tools: Some(Tools::Full) }).await?.snapshot.text)
}
