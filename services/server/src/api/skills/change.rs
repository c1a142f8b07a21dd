//! Endpoints that save, patch and delete skills, set their fields and report their use.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, delete, patch, post, put};
use knowhow_domain::Error;
use knowhow_ops::skills::{
    self, Counted, DeleteSkill, PatchSkill, Patched, PutFields, ReportUse, SaveSkill, SavedSkill,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::{
    ApiError, ChangeProblems, JsonBody, OptionalJson, Query, UserCaller, WriteHeaders, WriteProblems, if_match, json,
    versioned,
};

/// Options for saving.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SaveQuery {
    /// Whether to reject the save with 409 if the skill exists.
    create_only: Option<bool>,
}

/// Save a skill: create or update
///
/// Creates a skill or a new version of it. Saving the same state again has no effect and returns `unchanged`.
#[utoipa::path(
    operation_id = "save_skill",
    tag = "skills",
    security(("bearer" = ["skills:write"])),
    params(
        SaveQuery,
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body = SaveSkill,
    responses(
        (status = 200, description = "Updated, or unchanged", body = SavedSkill),
        (status = 201, description = "Created", body = SavedSkill),
        ChangeProblems
    )
)]
#[post("")]
pub(crate) async fn save_skill(
    ctx: UserCaller,
    query: Query<SaveQuery>,
    body: JsonBody<SaveSkill>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let create_only = query.create_only.unwrap_or_default();
    let input = SaveSkill { create_only, expected_version: base.or(body.0.expected_version), ..body.0 };
    let saved = skills::save_skill(&ctx, &input).await.map_err(ApiError::under(base))?;
    let status = if saved.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(versioned(status, saved.skill.skill.version, &saved.skill))
}

/// Patch a skill: the preferred edit
///
/// Replaces text in the body, the frontmatter or a resource; applies all edits or rejects the patch. Searches the exact
/// text first, then a unique tolerant match. Sending the same patch again has no effect and returns `unchanged`.
#[utoipa::path(
    operation_id = "patch_skill",
    tag = "skills",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body = PatchSkill,
    responses((status = 200, description = "Patched, or unchanged", body = Patched), ChangeProblems)
)]
#[patch("/{skill}")]
pub(crate) async fn patch_skill(
    ctx: UserCaller,
    skill: Path<String>,
    body: JsonBody<PatchSkill>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let skill = skill.into_inner();
    let input = PatchSkill { skill, expected_version: base.or(body.0.expected_version), ..body.0 };
    let patched = skills::patch_skill(&ctx, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, patched.skill.version, &patched))
}

/// Change discovery fields
///
/// Changes the description, tags, category and similar fields in the frontmatter, and `pinned`.
#[utoipa::path(
    operation_id = "put_fields",
    tag = "skills",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body = PutFields,
    responses((status = 200, description = "Changed, or unchanged", body = SavedSkill), ChangeProblems)
)]
#[put("/{skill}/fields")]
pub(crate) async fn put_fields(
    ctx: UserCaller,
    skill: Path<String>,
    body: JsonBody<PutFields>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let skill = skill.into_inner();
    let input = PutFields { skill, expected_version: base.or(body.0.expected_version), ..body.0 };
    let saved = skills::put_fields(&ctx, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, saved.skill.version, &saved))
}

/// Delete a skill
///
/// Removes the skill immediately from everything an agent can read. An admin can restore it while it is in the tenant's
/// archive.
#[utoipa::path(
    operation_id = "delete_skill",
    tag = "skills",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body(content = Option<DeleteSkill>, description = "Optional"),
    responses((status = 204, description = "Deleted"), ChangeProblems)
)]
#[delete("/{skill}")]
pub(crate) async fn delete_skill(
    ctx: UserCaller,
    skill: Path<String>,
    body: OptionalJson<DeleteSkill>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let skill = skill.into_inner();
    let input = DeleteSkill { skill, expected_version: base.or(body.0.expected_version), ..body.0 };
    let unpin = |error| match error {
        Error::Conflict { code: code @ "pinned", detail } => {
            let detail = format!("{detail}: PUT {}/fields with {{\"pinned\": false}}", request.path());
            Error::Conflict { code, detail }
        }
        other => other,
    };
    skills::delete_skill(&ctx, &input).await.map_err(unpin).map_err(ApiError::under(base))?;
    Ok(HttpResponse::NoContent().finish())
}

/// Report a use and its outcome
///
/// Counts a use of the skill that happened elsewhere, or stores the outcome of a use. Idempotent per skill, session,
/// memory and UTC day.
///
/// `outcome: inapplicable` means that the skill did not fit the message of the session's current turn. It counts no
/// use, and recall returns the skill less often for similar messages. Idempotent per skill and turn.
#[utoipa::path(
    operation_id = "report_use",
    tag = "skills",
    security(("bearer" = ["skills:read"])),
    params(WriteHeaders),
    request_body = ReportUse,
    responses((status = 200, description = "Counted, or already counted before", body = Counted), WriteProblems)
)]
#[post("/used")]
pub(crate) async fn report_use(ctx: UserCaller, body: JsonBody<ReportUse>) -> Result<HttpResponse, ApiError> {
    let counted = skills::report_use(&ctx, &body.0).await?;
    Ok(json(StatusCode::OK, &counted))
}
