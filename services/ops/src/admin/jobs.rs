//! Jobs in the background, as a tenant's admins see theirs, and an operator who names no tenant those of the system.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use knowhow_domain::{Job, JobId, JobQueue, JobState, Result};
use knowhow_store::queue;

use serde::Serialize;
use utoipa::ToSchema;

use crate::Ctx;
use crate::page::{Page, PageQuery, window};

#[derive(Debug, Clone, Default)]
pub struct ListJobs {
    /// Only those in this state.
    pub state: Option<JobState>,
    /// The page to read.
    pub page: PageQuery,
}

/// Lists jobs that are not done, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_jobs(ctx: &Ctx, query: &ListJobs) -> Result<Page<Job>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<JobId>()?);
    let rows = queue::list(&ctx.app.db, &ctx.principal, query.state, window(before, limit)).await?;
    Page::of(rows, limit, |last| last.id)
}

/// How far the jobs are.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct JobQueues {
    /// By kind of work; a kind without jobs is left out.
    pub items: Vec<JobQueue>,
}

/// Counts jobs by kind: the tenant's, and for an operator in none those of all tenants and the system together.
///
/// # Errors
/// `Forbidden`.
pub async fn list_queues(ctx: &Ctx) -> Result<JobQueues> {
    if ctx.principal.require_tenant().is_ok() {
        return Ok(JobQueues { items: queue::list_queues(&ctx.app.db, &ctx.principal).await? });
    }
    // Those of all tenants are at all places.
    let mut by_task = BTreeMap::<String, JobQueue>::new();
    for at in ctx.app.db.each() {
        for queue in queue::list_queues(&at, &ctx.principal).await? {
            match by_task.entry(queue.task.clone()) {
                Entry::Occupied(mut counted) => counted.get_mut().add(&queue),
                Entry::Vacant(new) => drop(new.insert(queue)),
            }
        }
    }
    Ok(JobQueues { items: by_task.into_values().collect() })
}

/// Has a job tried again from the beginning, at once.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running`.
pub async fn retry_job(ctx: &Ctx, id: JobId) -> Result<()> {
    queue::retry(&ctx.app.db, &ctx.principal, id, ctx.now()).await
}

/// Removes a job; what it was to do is not done.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running`.
pub async fn discard_job(ctx: &Ctx, id: JobId) -> Result<()> {
    queue::discard(&ctx.app.db, &ctx.principal, id, ctx.now()).await
}
