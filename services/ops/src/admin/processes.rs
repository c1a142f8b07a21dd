//! The processes that are running, as an operator sees them.

use knowhow_domain::{Process, Result};
use knowhow_store::processes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Ctx;

/// The processes of the deployment.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Processes {
    /// Those that were seen within the last minute, by kind, host and start.
    pub items: Vec<Process>,
}

/// Lists the processes that are running on this database.
///
/// # Errors
/// `Forbidden` for anyone but an operator: they are of all tenants together.
pub async fn list_processes(ctx: &Ctx) -> Result<Processes> {
    ctx.principal.require_operator()?;
    Ok(Processes { items: processes::list(&ctx.app.db).await? })
}
