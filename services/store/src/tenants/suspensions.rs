//! Suspends and resumes tenants and users. Suspended callers are rejected (`vault/principal`), and their jobs are
//! delayed (`jobs/task.rs`).

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, new_id};

use crate::TenantTx;
use crate::across::suspensions::wake;
use crate::vault::error::refuse;

pub use crate::across::suspensions::{Suspending, set_tenant};

/// Suspends the transaction's user for a reason, or resumes the user if `reason` is `None`.
///
/// # Errors
/// `NotFound` if the user was erased.
pub async fn set_user(tx: &mut TenantTx, reason: Option<&str>, now: DateTime<Utc>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let found = sqlx::query!(
        "-- suspensions.set_user
        with found as (
            select user_id, suspended_reason from users where tenant_id = $1 and user_id = $2 and erased_at is null for update
        ), changed as (
            update users u
            set suspended_at = case when $3::text is not null then coalesce(u.suspended_at, $4) end, suspended_reason = $3
            from found f
            where u.tenant_id = $1 and u.user_id = f.user_id and f.suspended_reason is distinct from $3
            returning u.user_id
        ), counted as (
            update tenants t set erasures = t.erasures + 1 from changed where t.tenant_id = $1
        ), audited as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
            select $1, user_id, $5, $4, $6, case when $3::text is null then 'user.resume' else 'user.suspend' end, user_id::text,
                   jsonb_strip_nulls(jsonb_build_object('reason', $3::text))
            from changed
        )
        select user_id from found",
        tenant,
        user,
        reason,
        now,
        new_id(),
        actor
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    found.ok_or_else(|| Error::not_found("user"))?;
    if reason.is_none() { wake(tx.conn(), tenant, Some(user)).await } else { Ok(()) }
}
