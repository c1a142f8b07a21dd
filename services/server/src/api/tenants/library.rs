//! Endpoints of the tenant's library of starter skills.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, put};
use knowhow_domain::{LibrarySkill, LibraryUser};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, PutStarter, PutStarterSkill, StarterDetail};

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, ChangeProblems, JsonBody, Query, ReadProblems, WriteProblems, json};

/// List the skills of the tenant's library
///
/// The tenant's users receive them in addition to the built-in starters. A skill replaces the built-in starter of the
/// same name.
#[utoipa::path(
    operation_id = "list_starter_skills",
    tag = "admin",
    params(PageQuery, TenantQuery),
    responses((status = 200, description = "A page, by name", body = Page<LibrarySkill>), ReadProblems)
)]
#[get("/starter-skills")]
pub(crate) async fn list_starter_skills(ctx: AdminCaller, page: Query<PageQuery>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::list_starter_skills(&ctx, &page).await?))
}

/// Read a skill of the tenant's library
///
/// Includes its text and the number of users by state: unchanged, changed, deleted, or not received yet.
#[utoipa::path(
    operation_id = "get_starter_skill",
    tag = "admin",
    params(("name" = String, Path, description = "Name, with `/` as `%2F`", example = "plan-meeting"), TenantQuery),
    responses((status = 200, description = "The skill", body = StarterDetail), ReadProblems)
)]
#[get("/starter-skills/{name}")]
pub(crate) async fn get_starter_skill(ctx: AdminCaller, name: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::get_starter_skill(&ctx, &name, None).await?))
}

/// Put a skill into the tenant's library
///
/// Creates a new version if the text changed. Users receive it with their next request. Users who edited the skill are
/// offered a merge; users who deleted it do not get it back; users with their own skill of that name keep it. A text
/// that looks like an attack is rejected unless `accept_findings` allows it.
#[utoipa::path(
    operation_id = "put_starter_skill",
    tag = "admin",
    params(("name" = String, Path, description = "Name, with `/` as `%2F`"), TenantQuery),
    request_body = PutStarterSkill,
    responses((status = 200, description = "The skill after the change", body = PutStarter), ChangeProblems)
)]
#[put("/starter-skills/{name}")]
pub(crate) async fn put_starter_skill(
    ctx: AdminCaller,
    name: Path<String>,
    body: JsonBody<PutStarterSkill>,
) -> Result<HttpResponse, ApiError> {
    let input = PutStarterSkill { name: name.into_inner(), ..body.0 };
    Ok(json(StatusCode::OK, &tenants::put_starter_skill(&ctx, &input).await?))
}

/// Remove a skill from the tenant's library
///
/// Users with an unchanged copy lose it with their next request. Users who changed or pinned it keep it. Its versions
/// stay readable.
#[utoipa::path(
    operation_id = "delete_starter_skill",
    tag = "admin",
    params(("name" = String, Path, description = "Name, with `/` as `%2F`"), TenantQuery),
    responses((status = 204, description = "Removed"), WriteProblems)
)]
#[delete("/starter-skills/{name}")]
pub(crate) async fn delete_starter_skill(ctx: AdminCaller, name: Path<String>) -> Result<HttpResponse, ApiError> {
    tenants::delete_starter_skill(&ctx, &name).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List the versions of a skill of the tenant's library
///
/// Newest first, with the author of each. Also works for a removed skill.
#[utoipa::path(
    operation_id = "list_starter_versions",
    tag = "admin",
    params(
        ("name" = String, Path, description = "Name, with `/` as `%2F`", example = "plan-meeting"),
        PageQuery,
        TenantQuery
    ),
    responses((status = 200, description = "A page, newest first", body = Page<LibrarySkill>), ReadProblems)
)]
#[get("/starter-skills/{name}/versions")]
pub(crate) async fn list_starter_versions(
    ctx: AdminCaller,
    name: Path<String>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::list_starter_versions(&ctx, &name, &page).await?))
}

/// Read a version of a skill of the tenant's library
///
/// Includes its text and author. Also works for a removed skill.
#[utoipa::path(
    operation_id = "get_starter_version",
    tag = "admin",
    params(
        ("name" = String, Path, description = "Name, with `/` as `%2F`", example = "plan-meeting"),
        ("version" = i32, Path, minimum = 1, description = "The version"),
        TenantQuery
    ),
    responses((status = 200, description = "The version", body = StarterDetail), ReadProblems)
)]
#[get("/starter-skills/{name}/versions/{version}")]
pub(crate) async fn get_starter_version(ctx: AdminCaller, path: Path<(String, i32)>) -> Result<HttpResponse, ApiError> {
    let (name, version) = path.into_inner();
    Ok(json(StatusCode::OK, &tenants::get_starter_skill(&ctx, &name, Some(version)).await?))
}

/// List the users of a skill of the tenant's library
///
/// All users of the tenant by external id: the version they have unchanged, or that they changed or deleted it, have
/// their own skill of that name, or have not received it yet.
#[utoipa::path(
    operation_id = "list_starter_users",
    tag = "admin",
    params(
        ("name" = String, Path, description = "Name, with `/` as `%2F`", example = "plan-meeting"),
        PageQuery,
        TenantQuery
    ),
    responses((status = 200, description = "A page, by external id", body = Page<LibraryUser>), ReadProblems)
)]
#[get("/starter-skills/{name}/users")]
pub(crate) async fn list_starter_users(
    ctx: AdminCaller,
    name: Path<String>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &tenants::list_starter_users(&ctx, &name, &page).await?))
}
