//! Delete a memory.

use knowhow_domain::{Error, Result, Scope};
use knowhow_store::{Principal, WriteTx, memories};
use uuid::Uuid;

use crate::{App, Call};

/// Forgets a memory; a core one is in no snapshot that a session is given from now on.
///
/// # Errors
/// `NotFound`.
pub async fn delete_memory(app: &App, principal: &Principal, call: &Call, memory: &str) -> Result<()> {
    principal.require(Scope::Memories)?;
    call.check()?;
    let missing = || Error::not_found("memory");
    let id = Uuid::try_parse(memory.trim()).map_err(|_| missing())?;
    let mut tx = WriteTx::begin(&app.db, principal, "memories.delete").await?;
    let is_gone =
        call.once(app, &mut tx, &("memory.delete", id), async |tx| memories::delete(tx, id, app.now()).await).await?;
    tx.commit().await?;
    if is_gone { Ok(()) } else { Err(missing()) }
}
