//! The audit log: written with each change, never altered. Changes to skills write their entry in their own statement.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, new_id};
use serde_json::Value;
use uuid::Uuid;

use crate::TenantTx;
use crate::error::refuse;

/// One entry.
#[derive(Debug, Clone)]
pub struct AuditRow {
    /// Ordered by time.
    pub audit_id: Uuid,
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    pub actor: String,
    /// What, as `noun.verb`.
    pub action: String,
    /// To what.
    pub target: String,
    /// For which user, where it was one user's.
    pub user: Option<String>,
    /// More, never content.
    pub detail: Value,
}

/// Writes an entry beside the change that this transaction makes.
///
/// # Errors
/// `Unavailable`.
pub async fn record(tx: &mut TenantTx, action: &str, target: &str, detail: Value, now: DateTime<Utc>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    sqlx::query!(
        "-- audit.record
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        values ($1, $2, $3, $4, $5, $6, $7, $8)",
        tenant,
        user,
        new_id(),
        now,
        actor,
        action,
        target,
        detail
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}

/// A page of the tenant's log, newest first, `before` an entry.
///
/// # Errors
/// `Unavailable`.
pub async fn list(
    tx: &mut TenantTx,
    external_id: Option<&str>,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<AuditRow>> {
    let tenant = tx.tenant();
    let rows = sqlx::query!(
        r#"-- audit.list (a tenant's admin: all users of the tenant)
        select a.audit_id, a.at, a.actor, a.action, a.target, a.detail, u.external_id as "external_id?"
        from audit_log a
        left join users u on u.tenant_id = a.tenant_id and u.user_id = a.user_id
        where a.tenant_id = $1 and ($2::text is null or u.external_id = $2) and ($3::uuid is null or a.audit_id < $3)
        order by a.audit_id desc
        limit $4"#,
        tenant,
        external_id,
        before,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows
        .into_iter()
        .map(|r| AuditRow {
            audit_id: r.audit_id,
            at: r.at,
            actor: r.actor,
            action: r.action,
            target: r.target,
            user: r.external_id,
            detail: r.detail,
        })
        .collect())
}
