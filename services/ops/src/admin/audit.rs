//! The audit log, as a tenant's admins read it.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use knowhow_store::{Principal, audit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::begin;
use crate::App;
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
}

/// Lists entries, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_audit(
    app: &App,
    principal: &Principal,
    user: Option<&str>,
    page: &PageQuery,
) -> Result<Page<AuditEntry>> {
    let (limit, before) = (page.limit()?, page.after::<Uuid>()?);
    user.map(knowhow_store::check_external_id).transpose()?;
    let mut tx = begin(app, principal).await?;
    let rows = audit::list(&mut tx, user, before, rows_for(limit)).await?;
    tx.commit().await?;
    Page::of(
        rows,
        limit,
        |last| last.audit_id,
        |row| AuditEntry {
            id: row.audit_id,
            tenant: principal.tenant_slug().to_owned(),
            at: row.at,
            actor: row.actor,
            action: row.action,
            target: row.target,
            user: row.user,
            detail: row.detail,
        },
    )
}
