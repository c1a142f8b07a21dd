//! Delete a memory.

use knowhow_domain::{Error, Result, Scope};
use knowhow_store::{Principal, memories};
use uuid::Uuid;

use crate::App;

/// Forgets a memory; a core one is in no snapshot that a session is given from now on.
///
/// # Errors
/// `NotFound`.
pub async fn delete_memory(app: &App, principal: &Principal, memory: &str) -> Result<()> {
    principal.require(Scope::Memories)?;
    let missing = || Error::not_found("memory");
    let id = Uuid::try_parse(memory.trim()).map_err(|_| missing())?;
    if memories::delete(&app.db, principal, id).await? { Ok(()) } else { Err(missing()) }
}
