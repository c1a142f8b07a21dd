//! Jobs in the background, as a tenant's admins see theirs, and an operator who names no tenant those of the system.

use chrono::{DateTime, Utc};
use knowhow_domain::{JobState, Result};
use knowhow_store::Principal;
use knowhow_store::queue::{self, JobRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::page::{Page, PageQuery, rows_for};

/// Something that is done in the background.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// The id; later jobs have larger ones.
    #[schema(example = 4711)]
    pub id: i64,
    /// Its tenant, by slug; null for jobs of the system.
    #[schema(example = "acme")]
    pub tenant: Option<String>,
    /// What is done.
    #[schema(example = "embed_skill")]
    pub task: String,
    /// Where it is.
    pub state: JobState,
    /// Whose it is, by external id; absent for jobs of the system.
    #[schema(example = "alice")]
    pub user: Option<String>,
    /// Times it was begun.
    pub attempts: i16,
    /// Times it may be begun.
    pub max_attempts: i16,
    /// Why it failed last.
    pub last_error: Option<String>,
    /// When it is due.
    pub run_at: DateTime<Utc>,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// What it is about. Only one job with the same key waits at a time.
    #[schema(example = "embed_skill:0193e9c2-6b1f-7d3a-9f00-2b6d1c9e4a10")]
    pub key: Option<String>,
}

/// Which jobs.
#[derive(Debug, Clone, Default)]
pub struct ListJobs {
    /// Only those in this state.
    pub state: Option<JobState>,
    /// Which page.
    pub page: PageQuery,
}

/// Lists jobs that are not done, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_jobs(ctx: &Ctx, query: &ListJobs) -> Result<Page<Job>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<i64>()?);
    let rows = queue::list(&ctx.app.db, &ctx.principal, query.state, before, rows_for(limit)).await?;
    Page::of(rows, limit, |last| last.id, |row| Job::of(&ctx.principal, row))
}

/// Has a job tried again from the beginning, at once.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running`.
pub async fn retry_job(ctx: &Ctx, id: i64) -> Result<()> {
    queue::retry(&ctx.app.db, &ctx.principal, id, ctx.now()).await
}

/// Removes a job; what it was to do is not done.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running`.
pub async fn discard_job(ctx: &Ctx, id: i64) -> Result<()> {
    queue::discard(&ctx.app.db, &ctx.principal, id, ctx.now()).await
}

impl Job {
    fn of(principal: &Principal, row: JobRow) -> Self {
        Self {
            id: row.id,
            tenant: Some(principal.tenant_slug()).filter(|slug| !slug.is_empty()).map(str::to_owned),
            task: row.task,
            state: row.state,
            user: row.user,
            attempts: row.attempts,
            max_attempts: row.max_attempts,
            last_error: row.last_error,
            run_at: row.run_at,
            created_at: row.created_at,
            key: row.key,
        }
    }
}
