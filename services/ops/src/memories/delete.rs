//! Delete a memory.

use knowhow_domain::{Error, MemoryId, Result, Scope};
use knowhow_store::{WriteTx, memories};

use crate::Ctx;

/// Forgets a memory; a core one is in no snapshot that a session is given from now on.
///
/// # Errors
/// `NotFound`.
pub async fn delete_memory(ctx: &Ctx, memory: &str) -> Result<()> {
    ctx.principal.require(Scope::Memories)?;
    let missing = || Error::not_found("memory");
    let id = memory.trim().parse::<MemoryId>().map_err(|_| missing())?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.delete").await?;
    let is_gone =
        ctx.once(&mut tx, &("memory.delete", id), async |tx| memories::delete(tx, id, ctx.now()).await).await?;
    tx.commit().await?;
    if is_gone { Ok(()) } else { Err(missing()) }
}
