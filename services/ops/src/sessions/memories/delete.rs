//! Deletes memories.

use knowhow_domain::{Error, MemoryId, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::sessions::memories;

use crate::Ctx;
use crate::change::guard::guard_memory;

/// Deletes a memory. New snapshots do not contain it.
///
/// # Errors
/// `NotFound` if the user has no such memory; `Conflict` `needs-review` if the call comes from a tainted session.
pub async fn delete_memory(ctx: &Ctx, memory: &str) -> Result<()> {
    ctx.principal.require(Scope::Memories)?;
    let missing = || Error::not_found("memory");
    let id = memory.trim().parse::<MemoryId>().map_err(|_| missing())?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.delete").await?;
    let is_gone = ctx
        .once(&mut tx, &("memory.delete", id), async |tx| {
            guard_memory(ctx, tx).await?;
            memories::delete(tx, id, ctx.now()).await
        })
        .await?;
    tx.commit().await?;
    if is_gone { Ok(()) } else { Err(missing()) }
}
