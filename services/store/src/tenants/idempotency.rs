//! Idempotency keys (`Idempotency-Key`). The key is claimed in the transaction of the write. A repeated request
//! therefore waits for the first one and then finds its answer.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result};
use serde_json::Value;

use crate::WriteTx;
use crate::vault::{row, statement};

/// Maximum number of keys per user. Each key is stored for a day.
pub const KEYS: i64 = 20_000;

fn full() -> Error {
    Error::Quota(format!(
        "the user has reached the limit of {KEYS} requests with an Idempotency-Key per day; send requests without it"
    ))
}

row! { struct AnswerRow { request_digest: Vec<u8>, response: Option<Value> } }

statement! {
    read FindAnswer { key: String, now: DateTime<Utc> } -> AnswerRow,
    "-- idempotency.find_answer
    select k.request_digest, k.response from idempotency_keys k
    where k.tenant_id = $1 and k.user_id = $2 and k.key = $3 and k.created_at >= $4::timestamptz - interval '24 hours'"
}

// If the key is not new, this returns no row. With `refuses`, it rejects the transaction instead.
statement! {
    write ClaimKey {
        key: String, request_digest: Vec<u8>, now: DateTime<Utc>, most: i64, refuses: bool,
    } -> (),
    "-- idempotency.claim
    with claimed as (
        insert into idempotency_keys as k (tenant_id, user_id, key, request_digest, created_at)
        select $1, $2, $3, $4, $5
        where $6 > (select count(*) from (
            select from idempotency_keys o where o.tenant_id = $1 and o.user_id = $2 limit $6) known)
        on conflict (tenant_id, user_id, key) do update
            set request_digest = excluded.request_digest, response = null, created_at = excluded.created_at
            where k.created_at < $5::timestamptz - interval '24 hours'
        returning k.user_id
    )
    select app.require_written(claimed.user_id) from (select 1) one left join claimed on true
    where $7 or claimed.user_id is not null"
}

/// A request with an idempotency key.
#[derive(Debug, Clone, Copy)]
pub struct KeyedRequest<'a> {
    pub key: &'a str,
    /// SHA-256 of the request, to detect another request with this key.
    pub digest: &'a [u8; 32],
    pub now: DateTime<Utc>,
}

impl ClaimKey {
    fn of(request: KeyedRequest<'_>) -> Self {
        let KeyedRequest { key, digest, now } = request;
        Self { key: key.to_owned(), request_digest: digest.to_vec(), now, most: KEYS, refuses: false }
    }
}

/// Claims the key of a request with the next round trip. A key older than a day counts as new.
pub fn claim(tx: &mut WriteTx, request: KeyedRequest<'_>) {
    tx.claim(ClaimKey::of(request));
}

/// Claims the key in a transaction of one round trip. If the key is not new, the whole transaction is rejected.
pub fn claim_or_refuse(tx: &mut WriteTx, request: KeyedRequest<'_>) {
    tx.send_ahead(ClaimKey { refuses: true, ..ClaimKey::of(request) });
}

/// Stores the answer to a request together with the write of this transaction. Used for a request that was rejected in
/// its own transaction.
pub fn bind(tx: &mut WriteTx, request: KeyedRequest<'_>, response: Value) {
    tx.send_ahead(ClaimKey::of(request));
    answer(tx, request.key, response);
}

/// Returns the stored answer to a repeated request.
///
/// # Errors
/// `IdempotencyMismatch` if the key belongs to another request; `Quota` if the user has the maximum number of keys.
pub async fn find_answer(tx: &mut WriteTx, request: KeyedRequest<'_>) -> Result<Value> {
    let KeyedRequest { key, digest, now } = request;
    tx.begin_again();
    let found = tx.read(FindAnswer { key: key.to_owned(), now }).await?;
    let known = found.into_iter().next().ok_or_else(full)?;
    match known.response {
        Some(response) if known.request_digest == digest.as_slice() => Ok(response),
        _ => Err(Error::IdempotencyMismatch),
    }
}

statement! {
    write KeepAnswer { key: String, response: Value } -> (),
    "-- idempotency.answer
    update idempotency_keys set response = $4 where tenant_id = $1 and user_id = $2 and key = $3"
}

/// Stores the response of the request that claimed `key`, in that request's transaction.
pub fn answer(tx: &mut WriteTx, key: &str, response: Value) {
    tx.send_ahead(KeepAnswer { key: key.to_owned(), response });
}
