//! Endpoints for the current snapshot, which new sessions start with.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, get, post};
use knowhow_ops::sessions::snapshots::{self, CurrentView, ForTools};

use crate::http::{ApiError, CallerProblems, Query, UserCaller, WriteHeaders, WriteProblems, json, not_modified};

/// Read the current snapshot
///
/// The snapshot that a session would start with now. It changes at most every 30 minutes, and only if the user's data
/// changed. It changes sooner if it is refreshed or something that it shows is deleted.
#[utoipa::path(
    operation_id = "get_snapshot",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(ForTools),
    responses(
        (status = 200, description = "The snapshot; `ETag` is the SHA-256 of its text", body = CurrentView),
        (status = 304, description = "`If-None-Match` names this snapshot"),
        CallerProblems
    )
)]
#[get("/v1/snapshot")]
pub(crate) async fn get_snapshot(
    ctx: UserCaller,
    query: Query<ForTools>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    if let Some(known) = snapshots::find_known(&ctx, &query)?
        && let Ok(unchanged) = not_modified(&request, &format!("\"{known}\""))
    {
        return Ok(unchanged);
    }
    let current = snapshots::get_snapshot(&ctx, &query).await?;
    Ok(not_modified(&request, &format!("\"{}\"", current.snapshot.sha256))
        .unwrap_or_else(|mut response| response.json(&current)))
}

/// Render the snapshot again
///
/// Renders the snapshot for sessions that start from now on. Running sessions keep theirs.
#[utoipa::path(
    operation_id = "refresh_snapshot",
    tag = "sessions",
    security(("bearer" = ["sessions"])),
    params(ForTools, WriteHeaders),
    responses((status = 200, description = "The snapshot", body = CurrentView), WriteProblems)
)]
#[post("/v1/snapshot/refresh")]
pub(crate) async fn refresh_snapshot(ctx: UserCaller, query: Query<ForTools>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &snapshots::refresh_snapshot(&ctx, &query).await?))
}
