//! Suspending tenants and users.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, put};
use knowhow_domain::{Tenant, User};
use knowhow_ops::admin::{self, Suspend};

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{AdminCaller, ApiError, JsonBody, WriteProblems, json};

/// Suspend a user
///
/// Within a second every process answers the user's requests with 403 `user-suspended` and the reason, over REST and MCP. The user's
/// jobs wait and are not lost. Admins still see what is the user's, export it and erase it. Admins cannot suspend themselves: 403.
#[utoipa::path(
    operation_id = "suspend_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255),
        ExternalIdQuery,
        TenantQuery
    ),
    request_body = Suspend,
    responses(
        (status = 200, description = "Suspended", body = User),
        WriteProblems
    )
)]
#[put("/users/{external_id}/suspension")]
pub(crate) async fn suspend_user(
    ctx: AdminCaller,
    external_id: NamedUser,
    body: JsonBody<Suspend>,
) -> Result<HttpResponse, ApiError> {
    let user = admin::suspend_user(&ctx, &external_id, &body.0).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Let a suspended user in again
///
/// Jobs that waited go on at once. A user who is not suspended stays as is.
#[utoipa::path(
    operation_id = "resume_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "The tenant's own id of the user", max_length = 255),
        ExternalIdQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "Let in again", body = User),
        WriteProblems
    )
)]
#[delete("/users/{external_id}/suspension")]
pub(crate) async fn resume_user(ctx: AdminCaller, external_id: NamedUser) -> Result<HttpResponse, ApiError> {
    let user = admin::resume_user(&ctx, &external_id).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Suspend a tenant
///
/// For operators. Within a second every process answers all of the tenant's callers with 403 `tenant-suspended` and the reason; its
/// jobs wait and are not lost. Operators work in the tenant still.
#[utoipa::path(
    operation_id = "suspend_tenant",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        ("slug" = String, Path, description = "The tenant's slug", max_length = 64)
    ),
    request_body = Suspend,
    responses(
        (status = 200, description = "Suspended", body = Tenant),
        WriteProblems
    )
)]
#[put("/tenants/{slug}/suspension")]
pub(crate) async fn suspend_tenant(
    ctx: AdminCaller,
    slug: Path<String>,
    body: JsonBody<Suspend>,
) -> Result<HttpResponse, ApiError> {
    let tenant = admin::suspend_tenant(&ctx, &slug, &body.0).await?;
    Ok(json(StatusCode::OK, &tenant))
}

/// Let a suspended tenant in again
///
/// For operators. Jobs that waited go on at once. A tenant that is not suspended stays as is.
#[utoipa::path(
    operation_id = "resume_tenant",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        ("slug" = String, Path, description = "The tenant's slug", max_length = 64)
    ),
    responses(
        (status = 200, description = "Let in again", body = Tenant),
        WriteProblems
    )
)]
#[delete("/tenants/{slug}/suspension")]
pub(crate) async fn resume_tenant(ctx: AdminCaller, slug: Path<String>) -> Result<HttpResponse, ApiError> {
    let tenant = admin::resume_tenant(&ctx, &slug).await?;
    Ok(json(StatusCode::OK, &tenant))
}
