//! What is sent to webhooks, and what became of it.
//!
//! Why across tenants: a job is of a user, and users may not read where their tenant's messages go, nor the secret.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, TenantId};

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// Where a tenant's messages go.
#[derive(Debug, Clone)]
pub struct Target {
    /// The address, as it was registered.
    pub url: String,
    /// The secrets to sign by, sealed: the current one, and the one before while that holds.
    pub sealed_secrets: Vec<Vec<u8>>,
    /// Failures in a row.
    pub failures: i32,
    /// When the last of them was.
    pub failed_at: Option<DateTime<Utc>>,
}

/// Where the tenant's messages go, if it has a webhook.
///
/// # Errors
/// `Unavailable`.
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

/// What became of a message.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// The address that it was sent to.
    pub url: &'a str,
    /// Why it was not taken; `None` where it was.
    pub error: Option<&'a str>,
    pub now: DateTime<Utc>,
}

/// Notes that a message was taken, or why not. What was sent to an address of before says nothing of the one of now.
///
/// # Errors
/// `Unavailable`.
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
