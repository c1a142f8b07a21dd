//! Counters of this process since its start, over all tenants, and repairs of the graph by all processes.

use knowhow_domain::Result;
use knowhow_store::across::due::{self, Reconciled};
use serde::Serialize;
use utoipa::ToSchema;

use crate::recall::CacheCounts;
use crate::{Ctx, ModelsStatus};

/// The counters of the answering process.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Stats {
    /// The cache of users' catalogues for recall.
    pub catalogues: CacheCounts,
    /// Repairs of the graph.
    pub graph: GraphStats,
    /// The configured models and their state.
    pub models: ModelsStatus,
}

/// Repairs of the graph by the reconciler in the last 30 days, for all tenants and by all processes. Skills that a
/// regular job read at the same time are not counted.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct GraphStats {
    /// Number of skills that were missing from the graph.
    #[schema(minimum = 0)]
    pub indexed: i64,
    /// Number of skills in the graph that were read again, because of a lost job or new rules.
    #[schema(minimum = 0)]
    pub reconciled: i64,
    /// Number of deleted entities that only deleted skills referred to.
    #[schema(minimum = 0)]
    pub removed: i64,
}

/// Reads the counters of this process, and the counters of the graph.
///
/// # Errors
/// `Forbidden` if the caller is not an operator, as the counters cover all tenants.
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
