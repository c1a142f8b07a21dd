//! Tenants and their users.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, get, patch, post};
use knowhow_domain::used::UserDetail;
use knowhow_domain::{Tenant, TenantDetail, User};
use knowhow_ops::admin::{self, Confirm, CreateTenant, CreateUser, UpdateTenant};
use knowhow_ops::page::{Page, PageQuery};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{
    Address, AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, if_match_tags, json, tagged,
};

/// Which users to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsersQuery {
    /// Only those whose external ids begin so, as they are written.
    #[param(max_length = 255)]
    prefix: Option<String>,
}

/// Confirmation of a change of a tenant.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UpdateTenantQuery {
    /// `shorten-retention` allows settings that keep less of the stored data. Without it they are refused with 409.
    #[param(inline)]
    confirm: Option<Confirm>,
}

/// Make a tenant
///
/// For operators.
#[utoipa::path(
    operation_id = "create_tenant",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    request_body = CreateTenant,
    responses(
        (status = 201, description = "Made", body = Tenant),
        WriteProblems
    )
)]
#[post("/tenants")]
pub(crate) async fn create_tenant(ctx: AdminCaller, body: JsonBody<CreateTenant>) -> Result<HttpResponse, ApiError> {
    let tenant = admin::create_tenant(&ctx, &body.0).await?;
    Ok(tagged(StatusCode::CREATED, &tenant.tag(), &tenant))
}

/// List tenants
///
/// For operators.
#[utoipa::path(
    operation_id = "list_tenants",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        PageQuery
    ),
    responses(
        (status = 200, description = "A page, by slug", body = Page<Tenant>),
        ReadProblems
    )
)]
#[get("/tenants")]
pub(crate) async fn list_tenants(ctx: AdminCaller, page: Query<PageQuery>) -> Result<HttpResponse, ApiError> {
    let page = admin::list_tenants(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Read a tenant, with what its users keep and use
///
/// For operators.
#[utoipa::path(
    operation_id = "get_tenant",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        ("slug" = String, Path, description = "The tenant's slug", max_length = 64, example = "demo")
    ),
    responses(
        (status = 200, description = "The tenant", body = TenantDetail),
        ReadProblems
    )
)]
#[get("/tenants/{slug}")]
pub(crate) async fn get_tenant(ctx: AdminCaller, slug: Path<String>) -> Result<HttpResponse, ApiError> {
    let found = admin::get_tenant(&ctx, &slug).await?;
    Ok(tagged(StatusCode::OK, &found.tenant.tag(), &found))
}

/// Change a tenant's name, settings and quotas
///
/// For operators. The settings are a JSON merge patch (RFC 7396): those that are absent stay, null brings the default back, objects
/// merge. Takes effect within a second. With `If-Match` it is done only if the tenant is as it was read; otherwise the answer is 412
/// with the current state. Settings that keep less of the stored data delete some of it for good: they are refused with 409, which
/// names the data, unless `confirm=shorten-retention` is given.
#[utoipa::path(
    operation_id = "update_tenant",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        ("slug" = String, Path, description = "The tenant's slug", max_length = 64),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the state to change"),
        UpdateTenantQuery
    ),
    request_body = UpdateTenant,
    responses(
        (status = 200, description = "Changed", body = Tenant),
        WriteProblems
    )
)]
#[patch("/tenants/{slug}")]
pub(crate) async fn update_tenant(
    ctx: AdminCaller,
    at: Address<String, UpdateTenantQuery>,
    body: JsonBody<UpdateTenant>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let if_match = if_match_tags(request.headers())?;
    let input = UpdateTenant { slug: at.path, confirm: at.query.confirm, if_match, ..body.0 };
    let tenant = admin::update_tenant(&ctx, &input).await?;
    Ok(tagged(StatusCode::OK, &tenant.tag(), &tenant))
}

/// Make a user before first sight
///
/// Finds the user where there is one already.
#[utoipa::path(
    operation_id = "create_user",
    tag = "admin",
    params(
        TenantQuery
    ),
    request_body = CreateUser,
    responses(
        (status = 200, description = "The user", body = User),
        WriteProblems
    )
)]
#[post("/users")]
pub(crate) async fn create_user(ctx: AdminCaller, body: JsonBody<CreateUser>) -> Result<HttpResponse, ApiError> {
    let user = admin::create_user(&ctx, &body.0).await?;
    Ok(json(StatusCode::OK, &user))
}

/// List users, or find them by how their external ids begin
///
/// With how many skills and bytes each keeps.
#[utoipa::path(
    operation_id = "list_users",
    tag = "admin",
    params(
        UsersQuery,
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, by external id", body = Page<User>),
        ReadProblems
    )
)]
#[get("/users")]
pub(crate) async fn list_users(
    ctx: AdminCaller,
    query: Query<UsersQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let page = admin::list_users(&ctx, query.prefix.as_deref(), &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Read a user
///
/// With what is kept of the user, and what was used in the last 30 days.
#[utoipa::path(
    operation_id = "get_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255, example = "alice"),
        ExternalIdQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "The user", body = UserDetail),
        ReadProblems
    )
)]
#[get("/users/{external_id}")]
pub(crate) async fn get_user(ctx: AdminCaller, external_id: NamedUser) -> Result<HttpResponse, ApiError> {
    let user = admin::get_user(&ctx, &external_id).await?;
    Ok(json(StatusCode::OK, &user))
}
