//! One effect per `Idempotency-Key`: the key is claimed in the transaction of the write it protects, so a second
//! request waits for the first and then finds its answer.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result};
use serde_json::Value;

use crate::TenantTx;
use crate::error::refuse;

/// What is known of a key.
#[derive(Debug)]
pub enum Claim {
    /// Ours to use; finish with [`answer`].
    Fresh,
    /// Used before, for the same request, which was answered so.
    Answered(Value),
}

/// Most keys of one user: each is kept for a day.
pub const KEYS: i64 = 20_000;

fn full() -> Error {
    Error::Quota(format!(
        "the user has sent {KEYS} requests with an Idempotency-Key within a day, the limit; go on without"
    ))
}

/// Claims `key` for a request of this digest, or finds what it answered. A key older than a day is as new.
///
/// # Errors
/// `IdempotencyMismatch` where the key stands for another request; `Quota` where the user has as many as can be.
pub async fn claim(tx: &mut TenantTx, key: &str, request: &[u8; 32], now: DateTime<Utc>) -> Result<Claim> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let fresh = sqlx::query!(
        "-- idempotency.claim
        insert into idempotency_keys as k (tenant_id, user_id, key, request_digest, created_at)
        select $1, $2, $3, $4, $5
        where $6 > (select count(*) from (
            select from idempotency_keys o where o.tenant_id = $1 and o.user_id = $2 limit $6) known)
        on conflict (tenant_id, user_id, key) do update
            set request_digest = excluded.request_digest, response = null, created_at = excluded.created_at
            where k.created_at < $5::timestamptz - interval '24 hours'",
        tenant,
        user,
        key,
        request.as_slice(),
        now,
        KEYS
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    if fresh == 1 {
        return Ok(Claim::Fresh);
    }
    let row = sqlx::query!(
        "-- idempotency.find
        select request_digest, response from idempotency_keys
        where tenant_id = $1 and user_id = $2 and key = $3 and created_at >= $4::timestamptz - interval '24 hours'",
        tenant,
        user,
        key,
        now
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .ok_or_else(full)?;
    match row.response {
        Some(response) if row.request_digest == request.as_slice() => Ok(Claim::Answered(response)),
        _ => Err(Error::IdempotencyMismatch),
    }
}

/// Keeps the answer of the request that claimed `key`.
///
/// # Errors
/// `Unavailable`.
pub async fn answer(tx: &mut TenantTx, key: &str, response: &Value) -> Result<()> {
    let (tenant, user) = (tx.tenant(), tx.user());
    sqlx::query!(
        "-- idempotency.answer
        update idempotency_keys set response = $4 where tenant_id = $1 and user_id = $2 and key = $3",
        tenant,
        user,
        key,
        response
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}
