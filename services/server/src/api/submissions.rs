//! Submissions: changes that wait for a person, and what becomes of them.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, get, post};
use knowhow_domain::{Error, Submission, SubmissionId};
use knowhow_ops::page::{Page, PageQuery};
use knowhow_ops::review::{self, Decide, GetSubmission, ListSubmissions, Rebase, ShareSkill, SubmissionDetail, Submit};
use utoipa::IntoParams;

use crate::http::{
    ApiError, JsonBody, OptionalJson, Query, ReadProblems, UserCaller, WriteHeaders, WriteProblems, json, proposed,
};

const REASON: &str = "Knowhow-Reason";

/// Header of an admin who looks at what is a user's.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes a header; `reason` reads it")]
pub(super) struct ReasonHeader {
    /// Why an admin of the tenant looks at or decides on what is another user's: 8 to 200 characters, for the audit log.
    #[param(rename = "Knowhow-Reason", required = false, min_length = 8, max_length = 200)]
    reason: Option<String>,
}

/// Reads the header.
///
/// # Errors
/// `Malformed` for one that is no reason, also where none is needed: its sender counts on its being kept.
pub(super) fn reason(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(REASON) else { return Ok(None) };
    let reason = std::str::from_utf8(value.as_bytes()).map(str::trim).unwrap_or_default();
    if !(8..=200).contains(&reason.chars().count()) {
        return Err(Error::Malformed(format!("header {REASON}: 8 to 200 characters that say why")).into());
    }
    Ok(Some(reason.to_owned()))
}

/// Submit a change for review
///
/// Takes what a save takes, or a skill with what a patch takes, or a skill to delete. It is applied at once where no check
/// holds it. Else it waits for a person, and no agent sees it.
#[utoipa::path(
    operation_id = "submit_skill",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(WriteHeaders),
    request_body = Submit,
    responses(
        (status = 201, description = "Approved by the checks, and applied", body = Submission),
        (status = 202, description = "It waits for a person", body = Submission),
        WriteProblems
    )
)]
#[post("")]
pub(crate) async fn submit_skill(ctx: UserCaller, body: JsonBody<Submit>) -> Result<HttpResponse, ApiError> {
    Ok(proposed(&review::submit_skill(&ctx, &body.0).await?))
}

/// Propose a skill for the tenant's library
///
/// It always waits for an admin of the tenant. Once approved, it is given to all users as the built-in starters are. A skill
/// with files beside SKILL.md cannot be shared.
#[utoipa::path(
    operation_id = "share_skill",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        WriteHeaders
    ),
    request_body(content = Option<ShareSkill>, description = "May be left out"),
    responses((status = 202, description = "It waits for an admin", body = Submission), WriteProblems)
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
/// Those of the caller's user, the newest first. An admin of the tenant who says why (`Knowhow-Reason`) sees those of all
/// users. Texts are shown one by one, to those who may decide.
#[utoipa::path(
    operation_id = "list_submissions",
    tag = "review",
    security(("bearer" = ["skills:read"])),
    params(ListSubmissions, PageQuery, ReasonHeader),
    responses((status = 200, description = "A page", body = Page<Submission>), ReadProblems)
)]
#[get("")]
pub(crate) async fn list_submissions(
    ctx: UserCaller,
    query: Query<ListSubmissions>,
    page: Query<PageQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ListSubmissions { reason: reason(request.headers())?, page: page.0, ..query.0 };
    Ok(json(StatusCode::OK, &review::list_submissions(&ctx, &query).await?))
}

/// Read a submission
///
/// With what it changes, for those who may decide: credentials with the scope `review` that are the tenant's admins', or the
/// user's own where the tenant lets users review.
#[utoipa::path(
    operation_id = "get_submission",
    tag = "review",
    security(("bearer" = ["skills:read"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    responses((status = 200, description = "The submission", body = SubmissionDetail), ReadProblems)
)]
#[get("/{submission}")]
pub(crate) async fn get_submission(
    ctx: UserCaller,
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
/// Exactly the bytes that it proposes become the skill, if that is still as it was. 409 `stale` where it is not.
#[utoipa::path(
    operation_id = "approve_submission",
    tag = "review",
    security(("bearer" = ["review", "reviewer"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    request_body(content = Option<Decide>, description = "May be left out"),
    responses((status = 200, description = "Approved and applied", body = Submission), WriteProblems)
)]
#[post("/{submission}/approve")]
pub(crate) async fn approve_submission(
    ctx: UserCaller,
    id: Path<SubmissionId>,
    body: OptionalJson<Decide>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = decision(id, body, &request)?;
    Ok(json(StatusCode::OK, &review::approve_submission(&ctx, &input).await?))
}

/// Reject a submission
///
/// With a comment that says what to change. The same change again is refused with it.
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
    ctx: UserCaller,
    id: Path<SubmissionId>,
    body: JsonBody<Decide>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = Decide { id: id.into_inner(), reason: reason(request.headers())?, ..body.0 };
    Ok(json(StatusCode::OK, &review::reject_submission(&ctx, &input).await?))
}

/// Take a submission back
///
/// For the user who submitted it; nothing of it stays. What the scanner proposes cannot be taken back.
#[utoipa::path(
    operation_id = "withdraw_submission",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    request_body(content = Option<Decide>, description = "May be left out"),
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

/// Propose a change anew on the current version
///
/// Merges what was proposed with what has changed since. The old submission becomes `stale`, and the new one waits.
#[utoipa::path(
    operation_id = "rebase_submission",
    tag = "review",
    security(("bearer" = ["skills:write"])),
    params(("submission" = Uuid, Path, description = "Id"), ReasonHeader),
    responses(
        (status = 202, description = "The new submission; it waits", body = Submission),
        WriteProblems
    )
)]
#[post("/{submission}/rebase")]
pub(crate) async fn rebase_submission(
    ctx: UserCaller,
    id: Path<SubmissionId>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let input = Rebase { id: id.into_inner(), reason: reason(request.headers())? };
    Ok(proposed(&review::rebase_submission(&ctx, &input).await?))
}
