//! Dreams: what they find, their runs, and what becomes of what they propose.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, get, post, put};
use knowhow_domain::DreamId;
use knowhow_domain::dream::DreamRun;
use knowhow_ops::dream::{
    self, DecideDream, DreamCandidates, DreamDetail, GetDream, Learning, ListCandidates, ListDreams, PutLearning,
    StartDreams, StartedDreams,
};
use knowhow_ops::page::{Page, PageQuery};
use serde::Deserialize;
use utoipa::IntoParams;

use super::submissions::{ReasonHeader, reason};
use crate::http::{
    Address, ApiError, JsonBody, OptionalJson, Query, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json,
};

/// Whose dream it is.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OfUser {
    /// That of this user, by external id: for admins, who say why in the header `Knowhow-Reason`.
    #[param(max_length = 255)]
    user: Option<String>,
}

/// Begin dreams
///
/// A run for each pass: `gaps` finds requests that come again without a skill, `consolidate` skills that say the same, and
/// `optimize` skills that failed. A worker does them; `GET /v1/dreams/{dream}` tells how far they are. With `dry_run` nothing is
/// changed or offered. Each pass can be asked for five times within 24 hours.
#[utoipa::path(
    operation_id = "start_dreams",
    tag = "learning",
    security(("bearer" = ["skills:write"])),
    params(WriteHeaders),
    request_body(content = Option<StartDreams>, description = "May be left out"),
    responses((status = 202, description = "They are begun", body = StartedDreams), WriteProblems)
)]
#[post("")]
pub(crate) async fn start_dreams(ctx: UserCaller, body: OptionalJson<StartDreams>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::ACCEPTED, &dream::start_dreams(&ctx, &body.0).await?))
}

/// List dreams
///
/// The newest first, without their texts. They are kept, and can be undone, as long as the tenant's archive keeps skills.
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

/// Find what a dream would look at
///
/// Found by code alone, without a chat model: requests that come again, words that come up, skills that say the same, families
/// without a guide, skills that are used together, that say little, or that failed.
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
/// With its plan, what each operation changes or would change, and what became of it. Those who may decide also see what waits,
/// and what the chat model was asked and answered.
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
    address: Address<DreamId, OfUser>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::get_dream(&ctx, &run_of(address, &request)?).await?))
}

fn run_of(address: Address<DreamId, OfUser>, request: &HttpRequest) -> Result<GetDream, ApiError> {
    Ok(GetDream { id: address.path, user: address.query.user, reason: reason(request.headers())? })
}

fn decision(
    address: Address<DreamId, OfUser>,
    body: OptionalJson<DecideDream>,
    request: &HttpRequest,
) -> Result<DecideDream, ApiError> {
    let GetDream { id, user, reason } = run_of(address, request)?;
    Ok(DecideDream { id, user, reason, ..body.0 })
}

/// Apply what waits of a dream
///
/// As a person who has looked at it: for those who may review. What has changed since the dream is left, and said.
#[utoipa::path(
    operation_id = "apply_dream",
    tag = "learning",
    security(("bearer" = ["review", "reviewer"])),
    params(("dream" = Uuid, Path, description = "Id"), OfUser, ReasonHeader),
    request_body(content = Option<DecideDream>, description = "May be left out"),
    responses((status = 200, description = "The run as it is now", body = DreamDetail), WriteProblems)
)]
#[post("/{dream}/apply")]
pub(crate) async fn apply_dream(
    ctx: UserCaller,
    address: Address<DreamId, OfUser>,
    body: OptionalJson<DecideDream>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = decision(address, body, &request)?;
    Ok(json(StatusCode::OK, &dream::apply_dream(&ctx, &input).await?))
}

/// Reject what waits of a dream
///
/// It is not proposed again for 90 days.
#[utoipa::path(
    operation_id = "reject_dream",
    tag = "learning",
    security(("bearer" = ["review", "reviewer"])),
    params(("dream" = Uuid, Path, description = "Id"), OfUser, ReasonHeader),
    request_body(content = Option<DecideDream>, description = "May be left out"),
    responses((status = 200, description = "The run as it is now", body = DreamDetail), WriteProblems)
)]
#[post("/{dream}/reject")]
pub(crate) async fn reject_dream(
    ctx: UserCaller,
    address: Address<DreamId, OfUser>,
    body: OptionalJson<DecideDream>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = decision(address, body, &request)?;
    Ok(json(StatusCode::OK, &dream::reject_dream(&ctx, &input).await?))
}

/// Undo a dream
///
/// Takes all of it back in one transaction. What people changed since stays: each operation says whether it is `undone`, was
/// `merged` with later changes, was `kept`, or is `gone`. It is not proposed again for 90 days. Undone again, it answers the same.
#[utoipa::path(
    operation_id = "undo_dream",
    tag = "learning",
    security(("bearer" = ["skills:write"])),
    params(("dream" = Uuid, Path, description = "Id"), OfUser, ReasonHeader),
    responses((status = 200, description = "The run as it is now", body = DreamDetail), WriteProblems)
)]
#[post("/{dream}/undo")]
pub(crate) async fn undo_dream(
    ctx: UserCaller,
    address: Address<DreamId, OfUser>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::undo_dream(&ctx, &run_of(address, &request)?).await?))
}

/// Read how a user's skills are learned from
///
/// How far each pass of a dream goes by itself, whether it rests after failures, and what is left of the day's limits.
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

/// Change how a user's skills are learned from
///
/// What is absent stays; null follows the tenant. How far a pass goes takes the scope `review`.
#[utoipa::path(
    operation_id = "put_learning",
    tag = "learning",
    security(("bearer" = ["skills:write", "skills:read"])),
    params(WriteHeaders),
    request_body = PutLearning,
    responses((status = 200, description = "As it is now", body = Learning), WriteProblems)
)]
#[put("/v1/learning")]
pub(crate) async fn put_learning(ctx: UserCaller, body: JsonBody<PutLearning>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &dream::put_learning(&ctx, &body.0).await?))
}
