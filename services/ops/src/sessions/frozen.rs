//! Returns the frozen prompt of a session to agents that request it over MCP.

use knowhow_domain::{Result, Scope, Tools};
use knowhow_store::sessions;

use super::join::{NamedSession, OpenableNames, join_session};
use super::open::fresh_snapshot;
use crate::Ctx;
use crate::sessions::snapshots::{ForTools, get_snapshot};

/// Returns the text of the snapshot of the session that the call names. If the call names a key without an open
/// session, opens one. If no session is found, returns the current snapshot for agents with all tools.
///
/// # Errors
/// `Malformed` if the session name is invalid.
pub async fn get_frozen_text(ctx: &Ctx) -> Result<String> {
    ctx.principal.require(Scope::Sessions)?;
    if let NamedSession::Known { id, .. } = join_session(ctx, OpenableNames::AnyName).await?
        && let Some(mut opened) = sessions::find(&ctx.app.db, &ctx.principal, id).await?
    {
        fresh_snapshot(ctx, &mut opened).await?;
        return Ok(opened.snapshot.text);
    }
    Ok(get_snapshot(ctx, &ForTools { tools: Some(Tools::Full) }).await?.snapshot.text)
}
