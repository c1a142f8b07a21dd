//! A tenant's webhook, as managed by admins. `across::webhooks` has the data for deliveries.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Error, Result, Webhook, new_id};

use crate::TenantTx;
pub use crate::across::webhooks::{Outcome, Target, find_target, note_outcome};
use crate::vault::error::refuse;

/// Time after a rotation. Until it is over, messages are signed with both secrets.
const OVERLAP: TimeDelta = TimeDelta::days(1);

/// A webhook to store.
#[derive(Debug, Clone, Copy)]
pub struct NewWebhook<'a> {
    /// URL that messages are sent to.
    pub url: &'a str,
    /// Host of the URL, for the audit log. The other parts of the URL may be secret.
    pub host: &'a str,
    /// A new secret in encrypted form.
    pub sealed_secret: &'a [u8],
    /// Whether the new secret replaces an existing one.
    pub rotates: bool,
    pub now: DateTime<Utc>,
}

/// Stores the tenant's webhook. Returns the webhook, and whether the new secret is in use.
pub async fn put(tx: &mut TenantTx, new: NewWebhook<'_>) -> Result<(Webhook, bool)> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let row = sqlx::query!(
        r#"-- webhooks.put
        with put as (
            insert into webhooks as w (tenant_id, url, sealed_secret, created_at) values ($1, $3, $4, $5)
            on conflict (tenant_id) do update set
                url = excluded.url,
                sealed_secret = case when $6 then excluded.sealed_secret else w.sealed_secret end,
                previous_sealed_secret = case when $6 then w.sealed_secret else w.previous_sealed_secret end,
                previous_until = case when $6 then $7 else w.previous_until end,
                failures = 0, failed_at = null, last_error = null
            returning url, created_at, delivered_at, failed_at, failures, last_error, sealed_secret = $4 as is_new
        ), noted as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
            values ($1, $2, $8, $5, $9, 'webhook.put', $10)
        )
        select url as "url!", created_at as "created_at!", delivered_at, failed_at, failures as "failures!", last_error,
               is_new as "is_new!"
        from put"#,
        tenant,
        user,
        new.url,
        new.sealed_secret,
        new.now,
        new.rotates,
        new.now + OVERLAP,
        new_id(),
        actor,
        new.host
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    let webhook = Webhook {
        url: row.url,
        created_at: row.created_at,
        delivered_at: row.delivered_at,
        failed_at: row.failed_at,
        failures: row.failures,
        last_error: row.last_error,
    };
    Ok((webhook, row.is_new))
}

/// Returns the tenant's webhook.
pub async fn find(tx: &mut TenantTx) -> Result<Webhook> {
    let tenant = tx.tenant();
    sqlx::query_as!(
        Webhook,
        "-- webhooks.find
        select url, created_at, delivered_at, failed_at, failures, last_error from webhooks where tenant_id = $1",
        tenant
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .ok_or_else(|| Error::not_found("webhook"))
}

/// Deletes the tenant's webhook, so that no further messages are sent.
pub async fn delete(tx: &mut TenantTx, now: DateTime<Utc>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let gone = sqlx::query!(
        "-- webhooks.delete
        with gone as (
            delete from webhooks where tenant_id = $1 returning tenant_id
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
        select tenant_id, $2, $3, $4, $5, 'webhook.delete', 'webhook' from gone",
        tenant,
        user,
        new_id(),
        now,
        actor
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    if gone == 0 { Err(Error::not_found("webhook")) } else { Ok(()) }
}
