//! The audit log. Entries are written with each change and never altered. A change to a skill writes its entry in its
//! own statement.

use chrono::{DateTime, Utc};
use knowhow_domain::{AuditEntry, AuditId, Result, new_id};
use serde_json::Value;

use crate::TenantTx;
use crate::vault::error::refuse;

/// An admin's action, for the log.
#[derive(Debug)]
pub struct NewEntry<'a> {
    /// Name of the action, e.g. `skill.review`.
    pub action: &'a str,
    /// Target of the action.
    pub target: &'a str,
    /// Details of the action, a JSON object.
    pub detail: Value,
}

/// Writes an entry in the transaction of the change.
pub async fn record(tx: &mut TenantTx, new: NewEntry<'_>, now: DateTime<Utc>) -> Result<()> {
    let NewEntry { action, target, detail } = new;
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

/// Lists a page of the tenant's log, newest first, starting before the entry `before`.
pub async fn list(tx: &mut TenantTx, before: Option<AuditId>, limit: i64) -> Result<Vec<AuditEntry>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    sqlx::query_as!(
        AuditEntry,
        r#"-- audit.list (a tenant's admin: all users of the tenant)
        select a.audit_id as id, $4::text as "tenant!", a.at, app.shown_actor(a.actor) as "actor!", a.action,
               case when u.erased_at is null then app.shown_user(a.target) else '' end as "target!",
               case when u.erased_at is null then a.detail else '{}' end as "detail!",
               case when u.erased_at is null then u.external_id end as "user?", a.request_id, host(a.address) as address, encode(a.before_digest, 'hex') as before,
               encode(a.after_digest, 'hex') as after
        from audit_log a
        left join users u on u.tenant_id = a.tenant_id and u.user_id = a.user_id
        where a.tenant_id = $1 and ($2::uuid is null or a.audit_id < $2)
        order by a.audit_id desc
        limit $3"#,
        tenant,
        before.map(|entry| entry.0),
        limit,
        slug
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// Lists a page of one user's entries. This is a separate statement, because an optional user would make it scan the
/// tenant's log.
pub async fn list_of_user(
    tx: &mut TenantTx,
    external_id: &str,
    before: Option<AuditId>,
    limit: i64,
) -> Result<Vec<AuditEntry>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    sqlx::query_as!(
        AuditEntry,
        r#"-- audit.list_of_user (a tenant's admin: the user is found by the external id)
        select a.audit_id as id, $5::text as "tenant!", a.at, app.shown_actor(a.actor) as "actor!", a.action,
               case when u.erased_at is null then app.shown_user(a.target) else '' end as "target!",
               case when u.erased_at is null then a.detail else '{}' end as "detail!",
               case when u.erased_at is null then u.external_id end as "user?", a.request_id, host(a.address) as address, encode(a.before_digest, 'hex') as before,
               encode(a.after_digest, 'hex') as after
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
        before.map(|entry| entry.0),
        limit,
        slug
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}
