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
    /// The request that did it.
    pub request_id: Option<Uuid>,
    /// The address that was connected.
    pub address: Option<String>,
    /// SHA-256 of the text before.
    pub before: Option<Vec<u8>>,
    /// SHA-256 of the text after.
    pub after: Option<Vec<u8>>,
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
pub async fn list(tx: &mut TenantTx, before: Option<Uuid>, limit: i64) -> Result<Vec<AuditRow>> {
    let tenant = tx.tenant();
    sqlx::query_as!(
        AuditRow,
        r#"-- audit.list (a tenant's admin: all users of the tenant)
        select a.audit_id, a.at, a.actor, a.action, a.target, a.detail, u.external_id as "user?", a.request_id,
               host(a.address) as address, a.before_digest as before, a.after_digest as after
        from audit_log a
        left join users u on u.tenant_id = a.tenant_id and u.user_id = a.user_id
        where a.tenant_id = $1 and ($2::uuid is null or a.audit_id < $2)
        order by a.audit_id desc
        limit $3"#,
        tenant,
        before,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// The same of one user. A statement of its own: with the user left open, it would be a scan of the tenant's log.
///
/// # Errors
/// `Unavailable`.
pub async fn list_of_user(
    tx: &mut TenantTx,
    external_id: &str,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<AuditRow>> {
    let tenant = tx.tenant();
    sqlx::query_as!(
        AuditRow,
        r#"-- audit.list_of_user (a tenant's admin: the user is found by the external id)
        select a.audit_id, a.at, a.actor, a.action, a.target, a.detail, u.external_id as "user?", a.request_id,
               host(a.address) as address, a.before_digest as before, a.after_digest as after
        from users u
        cross join lateral (
            select * from audit_log l
            where l.tenant_id = $1 and l.user_id = u.user_id and l.audit_id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
            order by l.audit_id desc
            limit $4) a
        where u.tenant_id = $1 and u.external_id = $2
        order by a.audit_id desc"#,
        tenant,
        external_id,
        before,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}
