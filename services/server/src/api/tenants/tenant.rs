//! Endpoints of tenants and their users.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse, get, patch, post};
use knowhow_domain::tenants::usage::UserDetail;
use knowhow_domain::{Tenant, TenantDetail, User};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, Confirm, CreateTenant, CreateUser, UpdateTenant};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{
    AdminCaller, ApiError, JsonBody, Query, ReadProblems, UrlParameters, WriteProblems, if_match_tags, json, tagged,
};

/// Filters of the list of users.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsersQuery {
    /// Only external ids with this prefix, case-sensitive.
    #[param(max_length = 255)]
    prefix: Option<String>,
}

/// Confirmation of a change to a tenant.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UpdateTenantQuery {
    /// `shorten-retention` allows settings that delete stored data earlier. Without it they are rejected with 409.
    #[param(inline)]
    confirm: Option<Confirm>,
}

/// Create a tenant
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
    let tenant = tenants::create_tenant(&ctx, &body.0).await?;
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
    let page = tenants::list_tenants(&ctx, &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Read a tenant with its stored data and usage
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
    let found = tenants::get_tenant(&ctx, &slug).await?;
    Ok(tagged(StatusCode::OK, &found.tenant.tag(), &found))
}

/// Change a tenant's name, settings and quotas
///
/// For operators. The settings are a JSON merge patch (RFC 7396): absent members stay unchanged, null restores the
/// default, objects are merged. Takes effect within a second. With `If-Match` the change applies only if the tenant is
/// unchanged since it was read; otherwise the response is 412 with the current state. Settings that shorten retention
/// delete stored data permanently: they are rejected with 409, which names the data, unless `confirm=shorten-retention`
/// is given.
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
    at: UrlParameters<String, UpdateTenantQuery>,
    body: JsonBody<UpdateTenant>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let if_match = if_match_tags(request.headers())?;
    let input = UpdateTenant { slug: at.path, confirm: at.query.confirm, if_match, ..body.0 };
    let tenant = tenants::update_tenant(&ctx, &input).await?;
    Ok(tagged(StatusCode::OK, &tenant.tag(), &tenant))
}

/// Create a user in advance
///
/// Returns the existing user if there is one.
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
    let user = tenants::create_user(&ctx, &body.0).await?;
    Ok(json(StatusCode::OK, &user))
}

/// List users, or find them by a prefix of their external ids
///
/// Includes the number and total size of each user's skills.
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
    let page = tenants::list_users(&ctx, query.prefix.as_deref(), &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Read a user
///
/// Includes the user's stored data and the usage of the last 30 days.
#[utoipa::path(
    operation_id = "get_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255, example = "alice"),
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
    let user = tenants::get_user(&ctx, &external_id).await?;
    Ok(json(StatusCode::OK, &user))
}
