//! Targets of webhook messages, and delivery outcomes.
//!
//! Runs across tenants because a job acts for a user, and users must not read the tenant's webhook address and secret.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, TenantId};

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Webhook of a tenant.
#[derive(Debug, Clone)]
pub struct Target {
    /// The registered address.
    pub url: String,
    /// Encrypted signing secrets: the current one, and the previous one while it is valid.
    pub sealed_secrets: Vec<Vec<u8>>,
    /// Number of consecutive failures.
    pub failures: i32,
    /// Time of the last failure; `None` if no delivery has failed.
    pub failed_at: Option<DateTime<Utc>>,
}

/// Returns the tenant's webhook, if it has one.
pub async fn find_target(db: &Database, tenant: TenantId, now: DateTime<Utc>) -> Result<Option<Target>> {
    let mut tx = SystemTx::begin_about(db, tenant, "webhooks.find_target").await?;
    let row = sqlx::query!(
        "-- webhooks.find_target
        select url, sealed_secret, case when previous_until > $2 then previous_sealed_secret end as previous, failures,
               failed_at
        from webhooks where tenant_id = $1",
        tenant.0,
        now
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(row.map(|row| Target {
        url: row.url,
        sealed_secrets: [Some(row.sealed_secret), row.previous].into_iter().flatten().collect(),
        failures: row.failures,
        failed_at: row.failed_at,
    }))
}

/// Outcome of a delivery.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// Address that the message was sent to.
    pub url: &'a str,
    /// Error, if the delivery failed; `None` if it succeeded.
    pub error: Option<&'a str>,
    pub now: DateTime<Utc>,
}

/// Records the outcome of a delivery, unless the webhook's address has changed since.
pub async fn note_outcome(db: &Database, tenant: TenantId, outcome: Outcome<'_>) -> Result<()> {
    let Outcome { url, error, now } = outcome;
    let mut tx = SystemTx::begin_about(db, tenant, "webhooks.note_outcome").await?;
    sqlx::query!(
        "-- webhooks.note_outcome
        update webhooks set
            delivered_at = case when $3::text is null then $4 else delivered_at end,
            failed_at = case when $3::text is null then failed_at else $4 end,
            failures = case when $3::text is null then 0 else failures + 1 end,
            last_error = $3
        where tenant_id = $1 and url = $2",
        tenant.0,
        url,
        error,
        now
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}
