//! Endpoints of dreams: their candidates, runs and proposed operations.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, get, post, put};
use knowhow_domain::DreamId;
use knowhow_domain::learning::dream::DreamRun;
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::learning::dream::{
    self, DecideDream, DreamCandidates, DreamDetail, GetDream, Learning, ListCandidates, ListDreams, PutLearning,
    StartDreams, StartedDreams,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::review::{ReasonHeader, reason};
use crate::http::{
    ApiError, JsonBody, OptionalJson, Query, ReadProblems, UrlParameters, UserCaller, WriteHeaders, WriteProblems, json,
};

/// Selection of the user of a dream.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct OfUser {
    /// External id of the user, for admins, who give their reason in the header `Knowhow-Reason`. Default: the caller.
    #[param(max_length = 255)]
    user: Option<String>,
}

/// Start dreams
///
/// Starts one run per pass: `gaps` finds repeated requests without a skill, `consolidate` finds skills that overlap,
/// and `optimize` finds skills that led to failures. A worker runs them; `GET /v1/dreams/{dream}` returns their
/// progress. A `dry_run` makes no changes and no proposals. Each pass can be started five times within 24 hours.
#[utoipa::path(
    operation_id = "start_dreams",
    tag = "learning",
    security(("bearer" = ["skills:write"])),
    params(WriteHeaders),
    request_body(content = Option<StartDreams>, description = "Optional"),
    responses((status = 202, description = "The dreams were started", body = StartedDreams), WriteProblems)
)]
#[post("")]
pub(crate) async fn start_dreams(ctx: UserCaller, body: OptionalJson<StartDreams>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::ACCEPTED, &dream::start_dreams(&ctx, &body.0).await?))
}

/// List dreams
///
/// Newest first, without texts. Dreams are stored, and can be undone, for as long as the tenant's archive keeps skills.
#[utoipa::path(
    operation_id = "list_dreams",
    tag = "learning",
    security(("bearer" = ["skills:read"])),
    params(ListDreams, PageQuery, ReasonHeader),
    responses((status = 200, description = "A page", body = Page<DreamRun>), ReadProblems)
)]
#[get("")]
pub(crate) async fn list_dreams(
    ctx: UserCaller,
    query: Query<ListDreams>,
    page: Query<PageQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ListDreams { reason: reason(request.headers())?, page: page.0, ..query.0 };
    Ok(json(StatusCode::OK, &dream::list_dreams(&ctx, &query).await?))
}

/// List the candidates of a dream
///
/// Code alone finds them, without a chat model: repeated requests, frequent terms, overlapping skills, and groups of
/// skills without an overview skill. Also skills that are used together, have little content or led to failures.
#[utoipa::path(
    operation_id = "list_dream_candidates",
    tag = "learning",
    security(("bearer" = ["skills:read", "sessions"])),
    params(ListCandidates),
    responses((status = 200, description = "The candidates", body = DreamCandidates), ReadProblems)
)]
#[get("/candidates")]
pub(crate) async fn list_candidates(ctx: UserCaller, query: Query<ListCandidates>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::list_candidates(&ctx, &query.0).await?))
}

/// Read a dream
///
/// Includes its plan, what each operation changes or would change, and the outcome. Reviewers also see pending
/// operations, and the prompt and answer of the chat model.
#[utoipa::path(
    operation_id = "get_dream",
    tag = "learning",
    security(("bearer" = ["skills:read"])),
    params(("dream" = Uuid, Path, description = "Id"), OfUser, ReasonHeader),
    responses((status = 200, description = "The run", body = DreamDetail), ReadProblems)
)]
#[get("/{dream}")]
pub(crate) async fn get_dream(
    ctx: UserCaller,
    address: UrlParameters<DreamId, OfUser>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::get_dream(&ctx, &run_of(address, &request)?).await?))
}

fn run_of(address: UrlParameters<DreamId, OfUser>, request: &HttpRequest) -> Result<GetDream, ApiError> {
    Ok(GetDream { id: address.path, user: address.query.user, reason: reason(request.headers())? })
}

fn decision(
    address: UrlParameters<DreamId, OfUser>,
    body: OptionalJson<DecideDream>,
    request: &HttpRequest,
) -> Result<DecideDream, ApiError> {
    let GetDream { id, user, reason } = run_of(address, request)?;
    Ok(DecideDream { id, user, reason, ..body.0 })
}

/// Apply the pending operations of a dream
///
/// Requires the right to review. Skills changed since the dream are skipped and reported.
#[utoipa::path(
    operation_id = "apply_dream",
    tag = "learning",
    security(("bearer" = ["review", "reviewer"])),
    params(("dream" = Uuid, Path, description = "Id"), OfUser, ReasonHeader),
    request_body(content = Option<DecideDream>, description = "Optional"),
    responses((status = 200, description = "The current state of the run", body = DreamDetail), WriteProblems)
)]
#[post("/{dream}/apply")]
pub(crate) async fn apply_dream(
    ctx: UserCaller,
    address: UrlParameters<DreamId, OfUser>,
    body: OptionalJson<DecideDream>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = decision(address, body, &request)?;
    Ok(json(StatusCode::OK, &dream::apply_dream(&ctx, &input).await?))
}

/// Reject the pending operations of a dream
///
/// Rejected operations are not proposed again for 90 days.
#[utoipa::path(
    operation_id = "reject_dream",
    tag = "learning",
    security(("bearer" = ["review", "reviewer"])),
    params(("dream" = Uuid, Path, description = "Id"), OfUser, ReasonHeader),
    request_body(content = Option<DecideDream>, description = "Optional"),
    responses((status = 200, description = "The current state of the run", body = DreamDetail), WriteProblems)
)]
#[post("/{dream}/reject")]
pub(crate) async fn reject_dream(
    ctx: UserCaller,
    address: UrlParameters<DreamId, OfUser>,
    body: OptionalJson<DecideDream>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = decision(address, body, &request)?;
    Ok(json(StatusCode::OK, &dream::reject_dream(&ctx, &input).await?))
}

/// Undo a dream
///
/// Undoes all its changes in one transaction, except for skills that people have changed since. Each operation reports
/// `undone`, `merged` (with later changes), `kept` or `gone`. The operations are not proposed again for 90 days.
/// Undoing twice returns the same result.
#[utoipa::path(
    operation_id = "undo_dream",
    tag = "learning",
    security(("bearer" = ["skills:write"])),
    params(("dream" = Uuid, Path, description = "Id"), OfUser, ReasonHeader),
    responses((status = 200, description = "The current state of the run", body = DreamDetail), WriteProblems)
)]
#[post("/{dream}/undo")]
pub(crate) async fn undo_dream(
    ctx: UserCaller,
    address: UrlParameters<DreamId, OfUser>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::undo_dream(&ctx, &run_of(address, &request)?).await?))
}

/// Read a user's learning settings
///
/// For each pass of a dream, returns how much it may do on its own and whether it is paused after failures. Also
/// returns how much of the daily limits is left.
#[utoipa::path(
    operation_id = "get_learning",
    tag = "learning",
    security(("bearer" = ["skills:read"])),
    responses((status = 200, description = "The settings and limits", body = Learning), ReadProblems)
)]
#[get("/v1/learning")]
pub(crate) async fn get_learning(ctx: UserCaller) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::get_learning(&ctx).await?))
}

/// Change a user's learning settings
///
/// Absent members stay unchanged; null restores the tenant's setting. Changing how much a pass may do requires the
/// scope `review`.
#[utoipa::path(
    operation_id = "put_learning",
    tag = "learning",
    security(("bearer" = ["skills:write", "skills:read"])),
    params(WriteHeaders),
    request_body = PutLearning,
    responses((status = 200, description = "The current settings", body = Learning), WriteProblems)
)]
#[put("/v1/learning")]
pub(crate) async fn put_learning(ctx: UserCaller, body: JsonBody<PutLearning>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::put_learning(&ctx, &body.0).await?))
}
