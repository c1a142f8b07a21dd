//! Endpoints of a skill's resources, which are its files other than SKILL.md.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, delete, get, put};
use knowhow_ops::skills::{self, DeleteResource, GetResource, PutResource, SavedSkill};

use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::{
    ApiError, Binary, ChangeProblems, Query, RawBody, ReadProblems, UserCaller, WriteHeaders, file, if_match, versioned,
};

/// Read a resource
///
/// Returns one file as stored. Does not count as use.
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
        (status = 304, description = "`If-None-Match` names this file"),
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

/// Options for writing a file.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PutOptions {
    /// Whether the file is executable. Without it, an existing file keeps its bit, and a new one is not executable.
    executable: Option<bool>,
}

/// Write a resource
///
/// Writes one file in the skill's folder and creates a new version. The rules for paths are those of an import.
#[utoipa::path(
    operation_id = "put_resource",
    tag = "resources",
    security(("bearer" = ["skills:write"])),
    params(
        ("skill" = String, Path, description = "Name, with `/` as `%2F`, or id"),
        ("path" = String, Path, description = "Path below the skill's folder"),
        ("If-Match" = Option<String>, Header, description = "The version this is based on, in quotes, e.g. `\"3\"`"),
        WriteHeaders,
        PutOptions
    ),
    request_body(content = inline(Binary), content_type = "application/octet-stream", description = "The bytes; by default at most 8 MiB (`bytes_per_file` of the tenant)"),
    responses((status = 200, description = "Written, or unchanged", body = SavedSkill), ChangeProblems)
)]
#[put("/{skill}/resources/{path:.*}")]
pub(crate) async fn put_resource(
    ctx: UserCaller,
    (path, options): (Path<(String, String)>, Query<PutOptions>),
    body: RawBody,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let base = if_match(request.headers())?;
    let (skill, path) = path.into_inner();
    let input = PutResource { skill, path, content: &body.0, executable: options.executable, expected_version: base };
    let saved = skills::put_resource(&ctx, &input).await.map_err(ApiError::under(base))?;
    Ok(versioned(StatusCode::OK, saved.skill.version, &saved))
}

/// Delete a resource
///
/// Deletes one file and creates a new version.
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
