//! Endpoints of background jobs.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, post};
use knowhow_domain::{Job, JobId, JobState};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, JobQueues, ListJobs};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{PlaceQuery, TenantQuery};
use crate::http::{AdminCaller, ApiError, Query, ReadProblems, WriteProblems, json};

/// Filters of the list of jobs.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobsQuery {
    /// Only jobs in this state.
    state: Option<JobState>,
}

/// List jobs
///
/// Unfinished jobs of the tenant, newest first; for an operator without a tenant, those of the system.
#[utoipa::path(
    operation_id = "list_jobs",
    tag = "admin",
    params(
        JobsQuery,
        PageQuery,
        TenantQuery,
        PlaceQuery
    ),
    responses(
        (status = 200, description = "A page, newest first", body = Page<Job>),
        ReadProblems
    )
)]
#[get("/jobs")]
pub(crate) async fn list_jobs(
    ctx: AdminCaller,
    query: Query<JobsQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let page = tenants::list_jobs(&ctx, &ListJobs { state: query.state, page: page.0 }).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Count jobs by kind
///
/// The number of jobs by kind and state, and how long the oldest have been waiting. Operators without a tenant get the
/// jobs of all tenants and of the system. At most 100,000 jobs are counted per database.
#[utoipa::path(
    operation_id = "list_job_queues",
    tag = "admin",
    params(
        TenantQuery
    ),
    responses(
        (status = 200, description = "Counts by kind of job", body = JobQueues),
        ReadProblems
    )
)]
#[get("/queues")]
pub(crate) async fn list_job_queues(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::list_queues(&ctx).await?))
}

/// Retry a job
///
/// Restarts a dead or waiting job immediately, counting from the first attempt.
#[utoipa::path(
    operation_id = "retry_job",
    tag = "admin",
    params(
        ("id" = i64, Path, description = "The job's id"),
        TenantQuery,
        PlaceQuery
    ),
    responses(
        (status = 204, description = "The job waits for a worker"),
        WriteProblems
    )
)]
#[post("/jobs/{id}/retry")]
pub(crate) async fn retry_job(ctx: AdminCaller, id: Path<JobId>) -> Result<HttpResponse, ApiError> {
    tenants::retry_job(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Discard a job
///
/// The job's work is not done.
#[utoipa::path(
    operation_id = "discard_job",
    tag = "admin",
    params(
        ("id" = i64, Path, description = "The job's id"),
        TenantQuery,
        PlaceQuery
    ),
    responses(
        (status = 204, description = "Discarded"),
        WriteProblems
    )
)]
#[delete("/jobs/{id}")]
pub(crate) async fn discard_job(ctx: AdminCaller, id: Path<JobId>) -> Result<HttpResponse, ApiError> {
    tenants::discard_job(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}
