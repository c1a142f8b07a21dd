//! Endpoints of submissions, which are changes that await review, and of decisions about them.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, get, post};
use knowhow_domain::tenants::erasure::check_reason;
use knowhow_domain::{Error, Submission, SubmissionId};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::review::{self, Decide, GetSubmission, ListSubmissions, Rebase, ShareSkill, SubmissionDetail, Submit};
use utoipa::IntoParams;

use crate::http::{
    ApiError, JsonBody, OptionalJson, Query, ReadProblems, ReviewCaller, UserCaller, WriteHeaders, WriteProblems, json,
    proposed,
};

const REASON: &str = "Knowhow-Reason";

/// Reason given by an admin who accesses a user's data.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes a header; `reason` reads it")]
pub(in crate::api) struct ReasonHeader {
    /// The reason why an admin of the tenant reads or decides on another user's data: 8 to 200 characters, for the
    /// audit log.
    #[param(rename = "Knowhow-Reason", required = false, min_length = 8, max_length = 200)]
    reason: Option<String>,
}

/// Reads the header `Knowhow-Reason`.
///
/// # Errors
/// `Malformed` for an invalid reason, even if the request does not require a reason, because the client expects it to
/// be stored.
pub(in crate::api) fn reason(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(REASON) else { return Ok(None) };
    let reason = std::str::from_utf8(value.as_bytes()).unwrap_or_default();
    let invalid = |_| Error::Malformed(format!("header {REASON} must be a reason of 8 to 200 characters"));
    Ok(Some(check_reason(reason).map_err(invalid)?.to_owned()))
}

/// Submit a change for review
///
/// Accepts the same content as a save or a patch, or a skill to delete. If all checks pass, the change is applied
/// immediately. Otherwise it awaits review, and agents do not see it.
#[utoipa::path(
    operation_id = "submit_skill",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(WriteHeaders),
    request_body = Submit,
    responses(
        (status = 201, description = "Approved by the checks, and applied", body = Submission),
        (status = 202, description = "The change awaits review", body = Submission),
        WriteProblems
    )
)]
#[post("")]
pub(crate) async fn submit_skill(ctx: UserCaller, body: JsonBody<Submit>) -> Result<HttpResponse, ApiError> {
    Ok(proposed(&review::submit_skill(&ctx, &body.0).await?))
}

/// Propose a skill for the tenant's library
///
/// The proposal always awaits an admin of the tenant. Once approved, all users receive the skill like a built-in
/// starter. A skill with files other than SKILL.md cannot be shared.
#[utoipa::path(
    operation_id = "share_skill",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        WriteHeaders
    ),
    request_body(content = Option<ShareSkill>, description = "Optional"),
    responses((status = 202, description = "The proposal awaits an admin", body = Submission), WriteProblems)
)]
#[post("/{skill}/share")]
pub(crate) async fn share_skill(
    ctx: UserCaller,
    skill: Path<String>,
    body: OptionalJson<ShareSkill>,
) -> Result<HttpResponse, ApiError> {
    let input = ShareSkill { skill: skill.into_inner(), ..body.0 };
    Ok(proposed(&review::share_skill(&ctx, &input).await?))
}

/// List submissions
///
/// The submissions for the caller's user, newest first. An admin of the tenant with a reason (`Knowhow-Reason`) can
/// list those of all users. Texts are not included; reviewers read them one by one.
#[utoipa::path(
    operation_id = "list_submissions",
    tag = "review",
    security(("bearer" = ["skills:read"])),
    params(ListSubmissions, PageQuery, ReasonHeader),
    responses((status = 200, description = "A page", body = Page<Submission>), ReadProblems)
)]
#[get("")]
pub(crate) async fn list_submissions(
    ctx: ReviewCaller,
    query: Query<ListSubmissions>,
    page: Query<PageQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ListSubmissions { reason: reason(request.headers())?, page: page.0, ..query.0 };
    Ok(json(StatusCode::OK, &review::list_submissions(&ctx, &query).await?))
}

/// Read a submission
///
/// Includes the proposed change, for reviewers: credentials of the tenant's admins with the scope `review`, or the
/// user's own if the tenant lets users review.
#[utoipa::path(
    operation_id = "get_submission",
    tag = "review",
    security(("bearer" = ["skills:read"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    responses((status = 200, description = "The submission", body = SubmissionDetail), ReadProblems)
)]
#[get("/{submission}")]
pub(crate) async fn get_submission(
    ctx: ReviewCaller,
    id: Path<SubmissionId>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = GetSubmission { id: id.into_inner(), reason: reason(request.headers())? };
    Ok(json(StatusCode::OK, &review::get_submission(&ctx, &query).await?))
}

fn decision(id: Path<SubmissionId>, body: OptionalJson<Decide>, request: &HttpRequest) -> Result<Decide, ApiError> {
    Ok(Decide { id: id.into_inner(), reason: reason(request.headers())?, ..body.0 })
}

/// Approve a submission
///
/// Applies exactly the proposed bytes, if the skill has not changed since. Otherwise returns 409 `stale`.
#[utoipa::path(
    operation_id = "approve_submission",
    tag = "review",
    security(("bearer" = ["review", "reviewer"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    request_body(content = Option<Decide>, description = "Optional"),
    responses((status = 200, description = "Approved and applied", body = Submission), WriteProblems)
)]
#[post("/{submission}/approve")]
pub(crate) async fn approve_submission(
    ctx: ReviewCaller,
    id: Path<SubmissionId>,
    body: OptionalJson<Decide>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = decision(id, body, &request)?;
    Ok(json(StatusCode::OK, &review::approve_submission(&ctx, &input).await?))
}

/// Reject a submission
///
/// The comment should explain the necessary changes. The same change is rejected automatically from now on, with this
/// comment.
#[utoipa::path(
    operation_id = "reject_submission",
    tag = "review",
    security(("bearer" = ["review", "reviewer"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    request_body = Decide,
    responses((status = 200, description = "Rejected", body = Submission), WriteProblems)
)]
#[post("/{submission}/reject")]
pub(crate) async fn reject_submission(
    ctx: ReviewCaller,
    id: Path<SubmissionId>,
    body: JsonBody<Decide>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = Decide { id: id.into_inner(), reason: reason(request.headers())?, ..body.0 };
    Ok(json(StatusCode::OK, &review::reject_submission(&ctx, &input).await?))
}

/// Withdraw a submission
///
/// For the user who submitted it; its content is deleted. Proposals by the scanner cannot be withdrawn.
#[utoipa::path(
    operation_id = "withdraw_submission",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    request_body(content = Option<Decide>, description = "Optional"),
    responses((status = 200, description = "Withdrawn", body = Submission), WriteProblems)
)]
#[post("/{submission}/withdraw")]
pub(crate) async fn withdraw_submission(
    ctx: UserCaller,
    id: Path<SubmissionId>,
    body: OptionalJson<Decide>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = decision(id, body, &request)?;
    Ok(json(StatusCode::OK, &review::withdraw_submission(&ctx, &input).await?))
}

/// Rebase a submission on the current version
///
/// Merges the proposal with the changes made since. The old submission becomes `stale`, and the new one awaits review.
#[utoipa::path(
    operation_id = "rebase_submission",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    responses(
        (status = 202, description = "The new submission, which awaits review", body = Submission),
        WriteProblems
    )
)]
#[post("/{submission}/rebase")]
pub(crate) async fn rebase_submission(
    ctx: ReviewCaller,
    id: Path<SubmissionId>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = Rebase { id: id.into_inner(), reason: reason(request.headers())? };
    Ok(proposed(&review::rebase_submission(&ctx, &input).await?))
}
