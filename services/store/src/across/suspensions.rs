//! Suspends and resumes tenants.
//!
//! Runs across tenants because operators act on tenants from outside, as in `across/tenants.rs`.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, Tenant, TenantId, UserId, new_id};
use uuid::Uuid;

use super::tenants::read_settings;
use crate::vault::error::refuse;
use crate::vault::rollback_guard::Bounded;
use crate::vault::tx::SystemTx;
use crate::{Database, Principal};

/// Suspends or resumes the tenant selected by the operator, with all of its users.
///
/// # Errors
/// `Forbidden` unless the caller is an operator; `NotFound`.
pub async fn set_tenant(db: &Database, operator: &Principal, change: &Suspending<'_>) -> Result<Tenant> {
    operator.require_operator()?;
    let Suspending { slug, reason, now } = *change;
    let mut tx = SystemTx::begin_about(db, operator.tenant(), "suspensions.set_tenant").await?;
    let row = sqlx::query!(
        r#"-- suspensions.set_tenant
        with found as (
            select tenant_id, slug, name, settings, created_at, suspended_at, suspended_reason from tenants where slug = $1 for update
        ), changed as (
            update tenants t
            set suspended_at = case when $2::text is not null then coalesce(t.suspended_at, $3) end, suspended_reason = $2
            from found f
            where t.tenant_id = f.tenant_id and f.suspended_reason is distinct from $2
            returning t.tenant_id
        ), audited as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
            select tenant_id, $4, $5, $3, $6, case when $2::text is null then 'tenant.resume' else 'tenant.suspend' end, $1,
                   jsonb_strip_nulls(jsonb_build_object('reason', $2::text))
            from changed
        )
        select tenant_id, slug, name, settings, created_at,
               case when $2::text is not null then coalesce(suspended_at, $3) end as suspended_at
        from found"#,
        slug,
        reason,
        now,
        UserId::TENANT_WIDE.0,
        new_id(),
        operator.actor()
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .ok_or_else(|| Error::not_found("tenant"))?;
    if reason.is_none() {
        wake(tx.conn(), row.tenant_id, None).await?;
    }
    tx.commit().await?;
    Ok(Tenant {
        id: TenantId(row.tenant_id),
        slug: row.slug,
        name: row.name,
        settings: read_settings(row.tenant_id, &row.settings),
        place: db.place_name().into(),
        created_at: row.created_at,
        suspended_at: row.suspended_at,
        suspended_reason: reason.map(str::to_owned),
    })
}

/// A tenant to suspend, or to resume if there is no reason.
#[derive(Debug, Clone, Copy)]
pub struct Suspending<'a> {
    pub slug: &'a str,
    /// Reason for the suspension.
    pub reason: Option<&'a str>,
    pub now: DateTime<Utc>,
}

/// Schedules jobs that were delayed by the suspension to run now. It finds them by their last error, so jobs that
/// wait for a retry after a failure stay delayed.
pub(crate) async fn wake(conn: Bounded<'_>, tenant: Uuid, user: Option<Uuid>) -> Result<()> {
    let woken = sqlx::query(
        "-- suspensions.wake
    update graphile_worker._private_jobs j set run_at = now(), updated_at = now()
    where coalesce(j.payload ->> 'tenant_id', '') = $1 and ($2::text is null or j.payload ->> 'user_id' = $2)
      and j.locked_at is null and j.run_at > now() and j.last_error like 'TaskError(\"the % is suspended: %'",
    )
    .bind(tenant.to_string())
    .bind(user.map(|user| user.to_string()));
    woken.execute(conn).await.map_err(refuse)?;
    Ok(())
}
