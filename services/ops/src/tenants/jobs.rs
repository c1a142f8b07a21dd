//! Background jobs: jobs of a tenant for its admins, and jobs of the system for an operator without a tenant.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use knowhow_domain::{Job, JobId, JobQueue, JobState, Result};
use knowhow_store::jobs;

use serde::Serialize;
use utoipa::ToSchema;

use crate::Ctx;
use crate::context::page::{Page, PageQuery, window};

#[derive(Debug, Clone, Default)]
pub struct ListJobs {
    /// Only jobs in this state; `None` for all states.
    pub state: Option<JobState>,
    pub page: PageQuery,
}

/// Lists unfinished jobs, newest first.
pub async fn list_jobs(ctx: &Ctx, query: &ListJobs) -> Result<Page<Job>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<JobId>()?);
    let rows = jobs::list(&ctx.app.db, &ctx.principal, query.state, window(before, limit)).await?;
    Page::of(rows, limit, |last| last.id)
}

/// The queues of jobs.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct JobQueues {
    /// The queues by kind of job; kinds without jobs are omitted.
    pub items: Vec<JobQueue>,
}

/// Counts jobs by kind: jobs of the tenant or, for an operator without a tenant, jobs of all tenants and the system.
pub async fn list_queues(ctx: &Ctx) -> Result<JobQueues> {
    if ctx.principal.require_tenant().is_ok() {
        return Ok(JobQueues { items: jobs::list_queues(&ctx.app.db, &ctx.principal).await? });
    }
    // Jobs of all tenants are spread over all databases.
    let mut by_task = BTreeMap::<String, JobQueue>::new();
    for at in ctx.app.db.each() {
        for queue in jobs::list_queues(&at, &ctx.principal).await? {
            match by_task.entry(queue.task.clone()) {
                Entry::Occupied(mut counted) => counted.get_mut().add(&queue),
                Entry::Vacant(new) => drop(new.insert(queue)),
            }
        }
    }
    Ok(JobQueues { items: by_task.into_values().collect() })
}

/// Resets a job's attempts and retries it immediately.
pub async fn retry_job(ctx: &Ctx, id: JobId) -> Result<()> {
    jobs::retry(&ctx.app.db, &ctx.principal, id, ctx.now()).await
}

/// Deletes a job without running it.
pub async fn discard_job(ctx: &Ctx, id: JobId) -> Result<()> {
    jobs::discard(&ctx.app.db, &ctx.principal, id, ctx.now()).await
}
