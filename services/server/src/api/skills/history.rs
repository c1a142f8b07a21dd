//! Endpoints of versions, differences between versions, and rollback.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, get, post};
use knowhow_domain::Version;
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::review::{self, SkillFindings};
use knowhow_ops::skills::{self, Diff, GetVersion, ListVersions, Rollback, SavedSkill, VersionDetail};

use crate::http::{
    ApiError, ChangeProblems, JsonBody, Query, ReadProblems, UserCaller, WriteHeaders, if_match, json, versioned,
};

/// List versions
///
/// The author, kind and time of each change, newest first.
#[utoipa::path(
    operation_id = "list_versions",
    tag = "history",
    security(("bearer" = ["skills:read"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting"),
        PageQuery
    ),
    responses((status = 200, description = "A page, newest first", body = Page<Version>), ReadProblems)
)]
#[get("/{skill}/versions")]
pub(crate) async fn list_versions(
    ctx: UserCaller,
    skill: Path<String>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let query = ListVersions { skill: skill.into_inner(), page: page.0 };
    Ok(json(StatusCode::OK, &skills::list_versions(&ctx, &query).await?))
}

/// List the scanner's findings in a skill
///
/// For reviewers. Skills are scanned when they change, and all of them again when the scanner's rules change.
#[utoipa::path(
    operation_id = "get_findings",
    tag = "review",
    security(("bearer" = ["review"])),
    params(("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting")),
    responses((status = 200, description = "The findings; usually empty", body = SkillFindings), ReadProblems)
)]
#[get("/{skill}/findings")]
pub(crate) async fn get_findings(ctx: UserCaller, skill: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &review::get_findings(&ctx, &skill.into_inner()).await?))
}

/// Read one version
///
/// Returns one version with its SKILL.md and resources.
#[utoipa::path(
    operation_id = "get_version",
    tag = "history",
    security(("bearer" = ["skills:read"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting"),
        ("version" = i32, Path, description = "From 1", minimum = 1, example = 1)
    ),
    responses((status = 200, description = "The version", body = VersionDetail), ReadProblems)
)]
#[get("/{skill}/versions/{version}")]
pub(crate) async fn get_version(ctx: UserCaller, path: Path<(String, i32)>) -> Result<HttpResponse, ApiError> {
    let (skill, version) = path.into_inner();
    Ok(json(StatusCode::OK, &skills::get_version(&ctx, &GetVersion { skill, version }).await?))
}

/// Compare two versions
///
/// Returns a unified diff of SKILL.md and every changed text resource; empty if the versions are equal. If the diff
/// would be too large (about 4 MiB of input or 1 MiB of output), some files are omitted: a line names each, the header
/// `Knowhow-Left-Out` counts them, and `path` selects one.
#[utoipa::path(
    operation_id = "diff_versions",
    tag = "history",
    security(("bearer" = ["skills:read"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting"),
        Diff
    ),
    responses(
        (
            status = 200,
            description = "Unified diff",
            body = String,
            content_type = "text/x-diff",
            headers(("Knowhow-Left-Out" = u32, description = "Number of changed files that were omitted"))
        ),
        ReadProblems
    )
)]
#[get("/{skill}/diff")]
pub(crate) async fn diff_versions(
    ctx: UserCaller,
    skill: Path<String>,
    query: Query<Diff>,
) -> Result<HttpResponse, ApiError> {
    let query = Diff { skill: skill.into_inner(), ..query.0 };
    let diff = skills::diff_versions(&ctx, &query).await?;
    Ok(HttpResponse::Ok()
        .content_type("text/x-diff; charset=utf-8")
        .insert_header(("Knowhow-Left-Out", diff.left_out))
        .body(diff.text))
}

/// Roll back to a version
///
/// Creates a new version with the content of an earlier one.
#[utoipa::path(
    operation_id = "rollback_skill",
    tag = "history",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body = Rollback,
    responses((status = 200, description = "Rolled back, or unchanged", body = SavedSkill), ChangeProblems)
)]
#[post("/{skill}/rollback")]
pub(crate) async fn rollback_skill(
    ctx: UserCaller,
    skill: Path<String>,
    body: JsonBody<Rollback>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let skill = skill.into_inner();
    let input = Rollback { skill, expected_version: base.or(body.0.expected_version), ..body.0 };
    let saved = skills::rollback_skill(&ctx, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, saved.skill.version, &saved))
}
