//! What happened, and what was deleted.

use actix_web::http::StatusCode;
use actix_web::web::Path;
use actix_web::{HttpResponse, get, post};
use knowhow_domain::{ArchiveId, ArchivedSkill, AuditEntry};
use knowhow_ops::admin::{self, ListArchive, ListAudit, Restore, Restored};
use knowhow_ops::page::{Page, PageQuery};

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
#[get("/audit")]
pub(crate) async fn list_audit(
    ctx: AdminCaller,
    user: Query<UserQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let page = admin::list_audit(&ctx, &ListAudit { user: user.0.user, page: page.0 }).await?;
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
#[get("/archive")]
pub(crate) async fn list_archive(
    ctx: AdminCaller,
    user: Query<UserQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let page = admin::list_archive(&ctx, &ListArchive { user: user.0.user, page: page.0 }).await?;
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
#[post("/archive/{id}/restore")]
pub(crate) async fn restore_skill(
    ctx: AdminCaller,
    id: Path<ArchiveId>,
    body: JsonBody<Restore>,
) -> Result<HttpResponse, ApiError> {
    let restored = admin::restore_skill(&ctx, &Restore { id: *id, ..body.0 }).await?;
    Ok(json(StatusCode::OK, &restored))
}
