//! The other files of a skill.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, delete, get, put};
use knowhow_ops::skills::{self, DeleteResource, GetResource, PutResource, SavedSkill};

use crate::http::{
    ApiError, Binary, ChangeProblems, RawBody, ReadProblems, UserCaller, WriteHeaders, file, if_match, versioned,
};

/// Read a resource
///
/// One file as it is stored. Does not count as use.
#[utoipa::path(
    operation_id = "get_resource",
    tag = "resources",
    security(("bearer" = ["skills:read"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id", example = "plan-meeting"),
        ("path" = String, Path, description = "Path below the skill's folder", example = "references/api.md")
    ),
    responses(
        (status = 200, description = "The file; `ETag` is its SHA-256", content(
            (inline(Binary) = "application/octet-stream"),
            (inline(Binary) = "*/*")
        )),
        (status = 304, description = "`If-None-Match` names this very file"),
        ReadProblems
    )
)]
#[get("/{skill}/resources/{path:.*}")]
pub(crate) async fn get_resource(
    ctx: UserCaller,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (skill, path) = path.into_inner();
    Ok(file(&request, skills::get_resource(&ctx, &GetResource { skill, path }).await?))
}

/// Write a resource
///
/// Writes one file, below `references/`, `scripts/`, `assets/`, `templates/` or `resources/`: a new version.
#[utoipa::path(
    operation_id = "put_resource",
    tag = "resources",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("path" = String, Path, description = "Path below the skill's folder"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    request_body(content = inline(Binary), content_type = "application/octet-stream", description = "The bytes, at most 1 MiB"),
    responses((status = 200, description = "Written, or unchanged", body = SavedSkill), ChangeProblems)
)]
#[put("/{skill}/resources/{path:.*}")]
pub(crate) async fn put_resource(
    ctx: UserCaller,
    path: Path<(String, String)>,
    body: RawBody,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let (skill, path) = path.into_inner();
    let input = PutResource { skill, path, content: &body.0, expected_version: base };
    let saved = skills::put_resource(&ctx, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, saved.skill.version, &saved))
}

/// Delete a resource
///
/// Removes one file: a new version.
#[utoipa::path(
    operation_id = "delete_resource",
    tag = "resources",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("path" = String, Path, description = "Path below the skill's folder"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders
    ),
    responses((status = 200, description = "Removed", body = SavedSkill), ChangeProblems)
)]
#[delete("/{skill}/resources/{path:.*}")]
pub(crate) async fn delete_resource(
    ctx: UserCaller,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let (skill, path) = path.into_inner();
    let input = DeleteResource { skill, path, expected_version: base };
    let saved = skills::delete_resource(&ctx, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, saved.skill.version, &saved))
}
