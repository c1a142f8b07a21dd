//! The audit log, as a tenant's admins read it.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, manifest};
use knowhow_store::audit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{begin, note_read};
use crate::Ctx;
use crate::page::{Page, PageQuery, rows_for};

/// One entry.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// Ordered by time.
    pub id: Uuid,
    /// Its tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    #[schema(example = "user:alice")]
    pub actor: String,
    /// What.
    #[schema(example = "skill.save")]
    pub action: String,
    /// To what.
    #[schema(example = "plan-meeting")]
    pub target: String,
    /// Whose, where it was one user's.
    pub user: Option<String>,
    /// More; never content.
    #[schema(value_type = Object)]
    pub detail: Value,
    /// The request that did it, as in `X-Request-Id`; none for what the service does by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Uuid>,
    /// The address that was connected: your proxy's, where there is one. The log says more of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where a text changed: its SHA-256 before, hex; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// And after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Of whom, and which page.
#[derive(Debug, Clone, Default)]
pub struct ListAudit {
    /// Only what concerns this user, by external id.
    pub user: Option<String>,
    /// Which page.
    pub page: PageQuery,
}

/// Lists entries, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_audit(ctx: &Ctx, query: &ListAudit) -> Result<Page<AuditEntry>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<Uuid>()?);
    let user = query.user.as_deref();
    user.map(knowhow_store::check_external_id).transpose()?;
    let mut tx = begin(ctx).await?;
    let rows = match user {
        Some(user) => audit::list_of_user(&mut tx, user, before, rows_for(limit)).await?,
        None => audit::list(&mut tx, before, rows_for(limit)).await?,
    };
    note_read(&ctx.app, &mut tx, "audit.read", user.unwrap_or("all users")).await?;
    tx.commit().await?;
    Page::of(
        rows,
        limit,
        |last| last.audit_id,
        |row| AuditEntry {
            id: row.audit_id,
            tenant: ctx.principal.tenant_slug().to_owned(),
            at: row.at,
            actor: row.actor,
            action: row.action,
            target: row.target,
            user: row.user,
            detail: row.detail,
            request_id: row.request_id,
            address: row.address,
            before: row.before.as_deref().map(manifest::hex),
            after: row.after.as_deref().map(manifest::hex),
        },
    )
}
