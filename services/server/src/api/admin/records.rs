//! What happened, and what was deleted.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpResponse, get, post};
use knowhow_domain::{ArchivedSkill, AuditEntry};
use knowhow_ops::App;
use knowhow_ops::admin::{self, Restore, Restored};
use knowhow_ops::page::{Page, PageQuery};
use uuid::Uuid;

use super::{TenantQuery, UserQuery};
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, json};

/// Read the audit log
///
/// Every change with who made it, newest first. Append-only, for as long as the tenant keeps entries; never holds content.
#[utoipa::path(
    operation_id = "list_audit",
    tag = "admin",
    params(
        UserQuery,
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, newest first", body = Page<AuditEntry>),
        ReadProblems
    )
)]
#[get("/v1/admin/audit")]
pub(crate) async fn list_audit(
    app: Data<App>,
    caller: AdminCaller,
    user: Query<UserQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let page = admin::list_audit(&app, &caller.0, user.user.as_deref(), &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// List deleted skills
///
/// While the tenant's archive keeps them, newest first.
#[utoipa::path(
    operation_id = "list_archive",
    tag = "admin",
    params(
        UserQuery,
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, newest first", body = Page<ArchivedSkill>),
        ReadProblems
    )
)]
#[get("/v1/admin/archive")]
pub(crate) async fn list_archive(
    app: Data<App>,
    caller: AdminCaller,
    user: Query<UserQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let page = admin::list_archive(&app, &caller.0, user.user.as_deref(), &page).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Restore a deleted skill
///
/// With its id and its whole history. The reason goes into the audit log.
#[utoipa::path(
    operation_id = "restore_skill",
    tag = "admin",
    params(
        ("id" = Uuid, Path, description = "The archive entry's id"),
        TenantQuery
    ),
    request_body = Restore,
    responses(
        (status = 200, description = "Restored", body = Restored),
        WriteProblems
    )
)]
#[post("/v1/admin/archive/{id}/restore")]
pub(crate) async fn restore_skill(
    app: Data<App>,
    caller: AdminCaller,
    id: Path<Uuid>,
    body: JsonBody<Restore>,
) -> Result<HttpResponse, ApiError> {
    let restored = admin::restore_skill(&app, &caller.0, *id, &body.0).await?;
    Ok(json(StatusCode::OK, &restored))
}
