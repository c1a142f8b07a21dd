//! What is done in the background.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, post};
use knowhow_domain::{Job, JobId, JobState};
use knowhow_ops::admin;
use knowhow_ops::admin::{JobQueues, ListJobs};
use knowhow_ops::page::{Page, PageQuery};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{PlaceQuery, TenantQuery};
use crate::http::{AdminCaller, ApiError, Query, ReadProblems, WriteProblems, json};

/// Which jobs to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobsQuery {
    /// Only jobs in this state.
    state: Option<JobState>,
}

/// List jobs
///
/// Those that are not done, newest first: of the tenant, and for an operator in no tenant those of the system.
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
    let page = admin::list_jobs(&ctx, &ListJobs { state: query.state, page: page.0 }).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Count jobs by kind
///
/// How many there are of each kind and state, and how long the oldest have waited: of the tenant, and for an operator in no tenant of
/// all tenants and the system together. It looks at 100,000 jobs at most.
#[utoipa::path(
    operation_id = "list_job_queues",
    tag = "admin",
    params(
        TenantQuery
    ),
    responses(
        (status = 200, description = "By kind of work", body = JobQueues),
        ReadProblems
    )
)]
#[get("/queues")]
pub(crate) async fn list_job_queues(ctx: AdminCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::list_queues(&ctx).await?))
}

/// Try a job again
///
/// At once and from the first attempt, whether it is dead or waits for its next try.
#[utoipa::path(
    operation_id = "retry_job",
    tag = "admin",
    params(
        ("id" = i64, Path, description = "The job's id"),
        TenantQuery,
        PlaceQuery
    ),
    responses(
        (status = 204, description = "It waits for a worker"),
        WriteProblems
    )
)]
#[post("/jobs/{id}/retry")]
pub(crate) async fn retry_job(ctx: AdminCaller, id: Path<JobId>) -> Result<HttpResponse, ApiError> {
    admin::retry_job(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Discard a job
///
/// What it was to do is not done.
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
    admin::discard_job(&ctx, *id).await?;
    Ok(HttpResponse::NoContent().finish())
}
