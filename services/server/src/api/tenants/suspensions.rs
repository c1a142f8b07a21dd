//! Endpoints that suspend and resume tenants and users.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, delete, put};
use knowhow_domain::{Tenant, User};
use knowhow_ops::tenants::{self, Suspend};

use super::{ExternalIdQuery, NamedUser, TenantQuery};
use crate::http::{AdminCaller, ApiError, JsonBody, WriteProblems, json};

/// Suspend a user
///
/// Within a second every process rejects the user's requests with 403 `user-suspended` and the reason, over REST and
/// MCP. The user's jobs are postponed, not lost. Admins can still read, export and erase the user's data. Admins cannot
/// suspend themselves: 403.
#[utoipa::path(
    operation_id = "suspend_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255),
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
    let user = tenants::suspend_user(&ctx, &external_id, &body.0).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Resume a suspended user
///
/// Postponed jobs continue immediately. A user that is not suspended stays unchanged.
#[utoipa::path(
    operation_id = "resume_user",
    tag = "admin",
    params(
        ("external_id" = String, Path, description = "External id of the user, as assigned by the tenant", max_length = 255),
        ExternalIdQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "Resumed", body = User),
        WriteProblems
    )
)]
#[delete("/users/{external_id}/suspension")]
pub(crate) async fn resume_user(ctx: AdminCaller, external_id: NamedUser) -> Result<HttpResponse, ApiError> {
    let user = tenants::resume_user(&ctx, &external_id).await?;
    Ok(json(StatusCode::OK, &user))
}

/// Suspend a tenant
///
/// For operators. Within a second every process rejects all requests of the tenant with 403 `tenant-suspended` and the
/// reason. Its jobs are postponed, not lost. Operators can still work in the tenant.
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
    let tenant = tenants::suspend_tenant(&ctx, &slug, &body.0).await?;
    Ok(json(StatusCode::OK, &tenant))
}

/// Resume a suspended tenant
///
/// For operators. Postponed jobs continue immediately. Has no effect on a tenant that is not suspended.
#[utoipa::path(
    operation_id = "resume_tenant",
    tag = "admin",
    security(("bearer" = ["admin", "operator"])),
    params(
        ("slug" = String, Path, description = "The tenant's slug", max_length = 64)
    ),
    responses(
        (status = 200, description = "Resumed", body = Tenant),
        WriteProblems
    )
)]
#[delete("/tenants/{slug}/suspension")]
pub(crate) async fn resume_tenant(ctx: AdminCaller, slug: Path<String>) -> Result<HttpResponse, ApiError> {
    let tenant = tenants::resume_tenant(&ctx, &slug).await?;
    Ok(json(StatusCode::OK, &tenant))
}
