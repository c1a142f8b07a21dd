//! What one process has counted since its start, of all tenants together; and what all have repaired of the graph.

use knowhow_domain::Result;
use knowhow_store::due::{self, Reconciled};
use serde::Serialize;
use utoipa::ToSchema;

use crate::recall::CacheCounts;
use crate::{Ctx, ModelsStatus};

/// How the process that answers is doing.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Stats {
    /// What recall keeps of users between their requests.
    pub catalogues: CacheCounts,
    /// What was repaired of the graph.
    pub graph: GraphStats,
    /// Which models are configured, and how they answer.
    pub models: ModelsStatus,
}

/// What the reconciler has repaired of the graph in the last 30 days, for all tenants and by all processes. What a change of a
/// skill had read at the same time is not counted.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct GraphStats {
    /// Skills that were not in the graph.
    #[schema(minimum = 0)]
    pub indexed: i64,
    /// Skills that were to be read, and were forgotten.
    #[schema(minimum = 0)]
    pub reconciled: i64,
    /// Things that stood for skills which were gone.
    #[schema(minimum = 0)]
    pub removed: i64,
}

/// Reads the counters of this process, and those of the graph.
///
/// # Errors
/// `Forbidden` for anyone but an operator: they are of all tenants together.
pub async fn get_stats(ctx: &Ctx) -> Result<Stats> {
    ctx.principal.require_operator()?;
    let mut graph = GraphStats { indexed: 0, reconciled: 0, removed: 0 };
    for at in ctx.app.db.each() {
        let Reconciled { indexed, reconciled, removed } = due::sum_reconciled(&at, ctx.now()).await?;
        graph.indexed += indexed;
        graph.reconciled += reconciled;
        graph.removed += removed;
    }
    Ok(Stats { catalogues: ctx.app.catalogues.counts().await, graph, models: ctx.app.models.status() })
}
