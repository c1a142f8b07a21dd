//! Jobs in the background, as a tenant's admins see theirs, and an operator who names no tenant those of the system.

use knowhow_domain::{Job, JobState, Result};
use knowhow_store::Principal;
use knowhow_store::queue;

use crate::App;
use crate::page::{Page, PageQuery, rows_for};

/// Lists jobs that are not done, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_jobs(
    app: &App,
    principal: &Principal,
    state: Option<JobState>,
    page: &PageQuery,
) -> Result<Page<Job>> {
    let (limit, before) = (page.limit()?, page.after::<i64>()?);
    let rows = queue::list(&app.db, principal, state, before, rows_for(limit)).await?;
    Page::of(rows, limit, |last| last.id)
}

/// Has a job tried again from the beginning, at once.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running`.
pub async fn retry_job(app: &App, principal: &Principal, id: i64) -> Result<()> {
    queue::retry(&app.db, principal, id, app.now()).await
}

/// Removes a job; what it was to do is not done.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running`.
pub async fn discard_job(app: &App, principal: &Principal, id: i64) -> Result<()> {
    queue::discard(&app.db, principal, id, app.now()).await
}
