//! Endpoints of the audit log and of the archive of deleted skills.

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Path};
use actix_web::{HttpResponse, get, post};
use chrono::{DateTime, Utc};
use futures_util::stream::try_unfold;
use knowhow_domain::{ArchiveId, ArchivedSkill, AuditEntry};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, AuditFilter, ListArchive, ListAudit, Restore, Restored};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{TenantQuery, UserQuery};
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, json};

/// Filters of the audit log.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Only actions of this actor: a name as in the entries, e.g. `user:alice`, or a user's external id, which also
    /// matches actions of API keys for that user.
    #[param(max_length = 300)]
    actor: Option<String>,
    /// Only this action, e.g. `skill.create`; with a trailing `*`, all actions with that prefix.
    #[param(max_length = 64)]
    action: Option<String>,
    /// Only actions on this target as in the entries, e.g. a skill name.
    #[param(max_length = 255)]
    target: Option<String>,
    /// Only entries at or after this time.
    since: Option<DateTime<Utc>>,
    /// Only entries before this time.
    until: Option<DateTime<Utc>>,
    /// `jsonl` returns all matching entries, one per line, without a limit.
    #[param(inline)]
    format: Option<AuditFormat>,
}

/// Format of the audit log.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuditFormat {
    /// A page.
    Json,
    /// All entries, one per line.
    Jsonl,
}

/// Read the audit log
///
/// Every change and its author, newest first. The log is append-only, is stored for the tenant's retention time and
/// never contains content. A filtered page scans a bounded part of the log: it may have few or no entries and still
/// have a cursor.
#[utoipa::path(
    operation_id = "list_audit",
    tag = "admin",
    params(
        AuditQuery,
        UserQuery,
        PageQuery,
        TenantQuery
    ),
    responses(
        (status = 200, description = "A page, newest first; or all as JSON lines", content(
            (Page<AuditEntry> = "application/json"),
            (String = "application/jsonl")
        )),
        ReadProblems
    )
)]
#[get("/audit")]
pub(crate) async fn list_audit(
    ctx: AdminCaller,
    query: Query<AuditQuery>,
    user: Query<UserQuery>,
    page: Query<PageQuery>,
) -> Result<HttpResponse, ApiError> {
    let AuditQuery { actor, action, target, since, until, format } = query.0;
    let filter = AuditFilter { actor, action, target, user: user.0.user, since, until };
    let query = ListAudit { filter, page: page.0 };
    if format != Some(AuditFormat::Jsonl) {
        return Ok(json(StatusCode::OK, &tenants::list_audit(&ctx, &query).await?));
    }
    let export = tenants::export_audit(&ctx, &query).await?;
    // The error closes the connection, so that the client notices that the log is incomplete.
    let lines = try_unfold(export, async |mut export| {
        let lines = export.next().await.map_err(std::io::Error::other)?;
        Ok::<_, std::io::Error>(lines.map(|lines| (Bytes::from(lines), export)))
    });
    Ok(HttpResponse::Ok().content_type("application/jsonl").streaming(Box::pin(lines)))
}

/// List deleted skills
///
/// Skills in the tenant's archive, newest first.
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
    let page = tenants::list_archive(&ctx, &ListArchive { user: user.0.user, page: page.0 }).await?;
    Ok(json(StatusCode::OK, &page))
}

/// Restore a deleted skill
///
/// Restores its id and complete history. The reason is stored in the audit log.
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
    let restored = tenants::restore_skill(&ctx, &Restore { id: *id, ..body.0 }).await?;
    Ok(json(StatusCode::OK, &restored))
}
