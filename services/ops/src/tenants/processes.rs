//! The running processes, for operators.

use knowhow_domain::{Process, Result};
use knowhow_store::across::processes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Ctx;

/// The processes of the deployment.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Processes {
    /// Processes seen within the last minute, sorted by kind, host and start.
    pub items: Vec<Process>,
}

/// Lists the processes that are running on this database.
///
/// # Errors
/// `Forbidden` if the caller is not an operator, as the processes are shared by all tenants.
pub async fn list_processes(ctx: &Ctx) -> Result<Processes> {
    ctx.principal.require_operator()?;
    Ok(Processes { items: processes::list(&ctx.app.db).await? })
}
