//! What one process has counted since its start. It says nothing of the other processes, nor of any tenant.

use knowhow_domain::Result;
use serde::Serialize;
use utoipa::ToSchema;

use crate::recall::CacheCounts;
use crate::{Ctx, ModelsStatus};

/// How the process that answers is doing.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Stats {
    /// What recall keeps of users between their requests.
    pub catalogues: CacheCounts,
    /// Which models are configured, and how they answer.
    pub models: ModelsStatus,
}

/// Reads the counters of this process.
///
/// # Errors
/// `Forbidden` for anyone but an operator: they are of all tenants together.
pub async fn get_stats(ctx: &Ctx) -> Result<Stats> {
    ctx.principal.require_operator()?;
    Ok(Stats { catalogues: ctx.app.catalogues.counts().await, models: ctx.app.models.status() })
}
