//! What happened, and what was deleted.

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Path};
use actix_web::{HttpResponse, get, post};
use chrono::{DateTime, Utc};
use futures_util::stream::try_unfold;
use knowhow_domain::{ArchiveId, ArchivedSkill, AuditEntry};
use knowhow_ops::admin::{self, AuditFilter, ListArchive, ListAudit, Restore, Restored};
use knowhow_ops::page::{Page, PageQuery};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{TenantQuery, UserQuery};
use crate::http::{AdminCaller, ApiError, JsonBody, Query, ReadProblems, WriteProblems, json};

/// Which entries of the audit log.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Only what this one did: as entries show it, such as `user:alice`, or a user's external id, which also finds what keys did
    /// for that user.
    #[param(max_length = 300)]
    actor: Option<String>,
    /// Only this action, e.g. `skill.create`; with `*` at its end, those that begin so.
    #[param(max_length = 64)]
    action: Option<String>,
    /// Only what was done to this, as entries show it, e.g. the name of a skill.
    #[param(max_length = 255)]
    target: Option<String>,
    /// Only entries of this time or later.
    since: Option<DateTime<Utc>>,
    /// Only entries before this time.
    until: Option<DateTime<Utc>>,
    /// `jsonl` for all entries that fit, an entry a line, without a limit.
    #[param(inline)]
    format: Option<AuditFormat>,
}

/// How the log is answered.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuditFormat {
    /// A page.
    Json,
    /// All, as lines.
    Jsonl,
}

/// Read the audit log
///
/// Every change with who made it, newest first. Append-only, for as long as the tenant keeps entries; never holds content. With a
/// filter a page looks at a bounded piece of the log: it may have few entries, or none, and a cursor all the same.
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
        (status = 200, description = "A page, newest first; or all as lines of JSON", content(
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
        return Ok(json(StatusCode::OK, &admin::list_audit(&ctx, &query).await?));
    }
    let export = admin::export_audit(&ctx, &query).await?;
    // An error ends the connection: who reads sees that the log is not whole.
    let lines = try_unfold(export, async |mut export| {
        let lines = export.next().await.map_err(std::io::Error::other)?;
        Ok::<_, std::io::Error>(lines.map(|lines| (Bytes::from(lines), export)))
    });
    Ok(HttpResponse::Ok().content_type("application/jsonl").streaming(Box::pin(lines)))
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
