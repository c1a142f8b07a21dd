//! The tenant's own library of starter skills.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, get, put};
use knowhow_domain::{LibrarySkill, LibraryUser};
use knowhow_ops::admin::{self, PutStarter, PutStarterSkill, StarterDetail};
use knowhow_ops::page::{Page, PageQuery};

use super::TenantQuery;
use crate::http::{AdminCaller, ApiError, ChangeProblems, JsonBody, Query, ReadProblems, WriteProblems, json};

/// List the skills of the tenant's library
///
/// Its users are given them beside the built-in starters, each in place of the built-in one of its name.
#[utoipa::path(
    operation_id = "list_starter_skills",
    tag = "admin",
    params(PageQuery, TenantQuery),
    responses((status = 200, description = "A page, by name", body = Page<LibrarySkill>), ReadProblems)
)]
#[get("/starter-skills")]
pub(crate) async fn list_starter_skills(ctx: AdminCaller, page: Query<PageQuery>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::list_starter_skills(&ctx, &page).await?))
}

/// Read a skill of the tenant's library
///
/// With its text, and how many users have it as it is, have changed or deleted it, or are still to be given it.
#[utoipa::path(
    operation_id = "get_starter_skill",
    tag = "admin",
    params(("name" = String, Path, description = "Name, with `/` as `%2F`", example = "plan-meeting"), TenantQuery),
    responses((status = 200, description = "The skill", body = StarterDetail), ReadProblems)
)]
#[get("/starter-skills/{name}")]
pub(crate) async fn get_starter_skill(ctx: AdminCaller, name: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &admin::get_starter_skill(&ctx, &name, None).await?))
}

/// Put a skill into the tenant's library
///
/// Makes a new version where the text is another. Users are given it when they come next; one who has changed it is offered a
/// merge, one who has deleted it does not get it back, and one with an own skill of that name keeps that. What looks like an
/// attack is refused unless `accept_findings` says otherwise.
#[utoipa::path(
    operation_id = "put_starter_skill",
    tag = "admin",
    params(("name" = String, Path, description = "Name, with `/` as `%2F`"), TenantQuery),
    request_body = PutStarterSkill,
    responses((status = 200, description = "The skill now", body = PutStarter), ChangeProblems)
)]
#[put("/starter-skills/{name}")]
pub(crate) async fn put_starter_skill(
    ctx: AdminCaller,
    name: Path<String>,
    body: JsonBody<PutStarterSkill>,
) -> Result<HttpResponse, ApiError> {
    let input = PutStarterSkill { name: name.into_inner(), ..body.0 };
    Ok(json(StatusCode::OK, &admin::put_starter_skill(&ctx, &input).await?))
}

/// Take a skill out of the tenant's library
///
/// It leaves the users who have it as it was given, when they come next. Who has changed or pinned it keeps it. Its versions
/// stay readable.
#[utoipa::path(
    operation_id = "delete_starter_skill",
    tag = "admin",
    params(("name" = String, Path, description = "Name, with `/` as `%2F`"), TenantQuery),
    responses((status = 204, description = "Removed"), WriteProblems)
)]
#[delete("/starter-skills/{name}")]
pub(crate) async fn delete_starter_skill(ctx: AdminCaller, name: Path<String>) -> Result<HttpResponse, ApiError> {
    admin::delete_starter_skill(&ctx, &name).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List the versions of a skill of the tenant's library
///
/// Newest first, with who wrote each; also of a skill that was removed.
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
    Ok(json(StatusCode::OK, &admin::list_starter_versions(&ctx, &name, &page).await?))
}

/// Read a version of a skill of the tenant's library
///
/// Its text, and who wrote it; also of a skill that was removed.
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
    Ok(json(StatusCode::OK, &admin::get_starter_skill(&ctx, &name, Some(version)).await?))
}

/// List who has what of a skill of the tenant's library
///
/// All users of the tenant by external id: which version they have as it was given, or that they have changed or deleted it,
/// have an own skill of that name, or are still to be given it.
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
    Ok(json(StatusCode::OK, &admin::list_starter_users(&ctx, &name, &page).await?))
}
