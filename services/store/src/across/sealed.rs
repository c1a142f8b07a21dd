//! Reads and replaces data that was encrypted or hashed with the deployment's master key, so that the key can be
//! changed.
//!
//! Runs across tenants because the key belongs to the deployment.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, TenantId};
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Location of an encrypted secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealedAt {
    /// Secret for verifying an issuer's tokens.
    Issuer(Uuid),
    /// Secret for signing a webhook's messages.
    Webhook,
    /// Previous secret of a webhook.
    PreviousOfWebhook,
}

/// An encrypted secret.
#[derive(Debug, Clone)]
pub struct SealedSecret {
    pub tenant: TenantId,
    pub at: SealedAt,
    pub bytes: Vec<u8>,
}

/// Returns the encrypted secrets for a page of tenants, ordered by id, starting after `behind`. Returns no secrets
/// after the last page.
pub async fn list_sealed(db: &Database, behind: TenantId, tenants: i64) -> Result<Vec<SealedSecret>> {
    let mut tx = SystemTx::begin_at_leisure(db, "sealed.list_sealed").await?;
    let rows = sqlx::query!(
        r#"-- sealed.list_sealed
        with page as (
            select t.tenant_id from tenants t
            where t.tenant_id > $1 and (exists (select from issuers i where i.tenant_id = t.tenant_id and i.sealed_secret is not null)
                                        or exists (select from webhooks w where w.tenant_id = t.tenant_id))
            order by t.tenant_id limit $2
        )
        select p.tenant_id as "tenant_id!", i.issuer_id as "issuer_id?", false as "is_previous!", i.sealed_secret as "bytes!"
        from page p join issuers i on i.tenant_id = p.tenant_id where i.sealed_secret is not null
        union all
        select p.tenant_id, null, false, w.sealed_secret from page p join webhooks w on w.tenant_id = p.tenant_id
        union all
        select p.tenant_id, null, true, w.previous_sealed_secret from page p join webhooks w on w.tenant_id = p.tenant_id
        where w.previous_sealed_secret is not null
        order by 1"#,
        behind.0,
        tenants
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let sealed = rows.into_iter().map(|row| SealedSecret {
        tenant: TenantId(row.tenant_id),
        at: match (row.issuer_id, row.is_previous) {
            (Some(issuer), _) => SealedAt::Issuer(issuer),
            (None, false) => SealedAt::Webhook,
            (None, true) => SealedAt::PreviousOfWebhook,
        },
        bytes: row.bytes,
    });
    Ok(sealed.collect())
}

/// Replaces an encrypted secret. Returns `false` if the secret has changed since it was read.
pub async fn put_sealed(db: &Database, was: &SealedSecret, anew: &[u8]) -> Result<bool> {
    let (issuer, is_previous) = match was.at {
        SealedAt::Issuer(issuer) => (Some(issuer), false),
        SealedAt::Webhook => (None, false),
        SealedAt::PreviousOfWebhook => (None, true),
    };
    let mut tx = SystemTx::begin_at_leisure(db, "sealed.put_sealed").await?;
    let row = sqlx::query_scalar!(
        r#"-- sealed.put_sealed
        with of_issuer as (
            update issuers set sealed_secret = $5 where tenant_id = $1 and issuer_id = $2 and sealed_secret = $4 returning 1
        ), of_webhook as (
            update webhooks
            set sealed_secret = case when $3 then sealed_secret else $5 end,
                previous_sealed_secret = case when $3 then $5 else previous_sealed_secret end
            where tenant_id = $1 and $2::uuid is null and case when $3 then previous_sealed_secret else sealed_secret end = $4
            returning 1
        )
        select (select count(*) from of_issuer) + (select count(*) from of_webhook) as "changed!""#,
        was.tenant.0,
        issuer,
        is_previous,
        &was.bytes,
        anew
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(row > 0)
}

/// Counts the active API keys that may have been hashed with another master key than the one with this mark. Each key
/// is hashed again at its next use.
pub async fn count_hashed_otherwise(db: &Database, mark: &[u8], now: DateTime<Utc>) -> Result<u64> {
    let mut tx = SystemTx::begin_at_leisure(db, "sealed.count_hashed_otherwise").await?;
    let count = sqlx::query_scalar!(
        r#"-- sealed.count_hashed_otherwise
        select count(*) as "count!" from api_keys
        where hashed_under is distinct from $1 and revoked_at is null and (expires_at is null or expires_at > $2)"#,
        mark,
        now
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    u64::try_from(count).map_err(Error::internal)
}
