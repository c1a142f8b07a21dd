//! Looks up API keys and records their use.
//!
//! Runs across tenants because only the key's row shows its tenant, and the use is recorded before a principal exists.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{KeyId, Result, TenantId};
use uuid::Uuid;

use super::TenantRow;
use crate::Database;
use crate::vault::error::refuse;
use crate::vault::known_callers::KnownKey;
use crate::vault::pipeline::look_up;
use crate::vault::tx::SystemTx;
use crate::vault::{row, statement};

row! {
    struct KeyRow {
        key_id: Uuid, secret_hash: Vec<u8>, hashed_under: Option<Vec<u8>>, scopes: Vec<String>,
        expires_at: Option<DateTime<Utc>>, revoked_at: Option<DateTime<Utc>>,
    }
}

statement! {
    look_up FindKeys<'a> { prefix: &'a str } -> (KeyRow, TenantRow),
    "-- api_keys.find_keys
    select k.key_id, k.secret_hash, k.hashed_under, k.scopes, k.expires_at, k.revoked_at, t.tenant_id, t.slug, t.settings, t.library, t.erasures, t.suspended_reason,
           exists (select from tenants_elsewhere e where e.tenant = t.tenant_id) as is_elsewhere
    from api_keys k
    join tenants t on t.tenant_id = k.tenant_id
    where k.prefix = $1"
}

/// Finds API keys by their prefix.
pub(crate) async fn find_keys(db: &Database, prefix: &str) -> Result<Vec<KnownKey>> {
    let key = |(row, tenant): (KeyRow, TenantRow)| KnownKey {
        id: KeyId(row.key_id),
        tenant: Arc::new(tenant.into_known(db)),
        secret_hash: row.secret_hash,
        hashed_under: row.hashed_under,
        // Unknown scopes, added by a later release, are ignored.
        scopes: row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
    };
    Ok(look_up(db, FindKeys { prefix }).await?.into_iter().map(key).collect())
}

/// A use of an API key.
pub(crate) struct KeyUse {
    pub(crate) tenant: TenantId,
    pub(crate) key: KeyId,
    pub(crate) now: DateTime<Utc>,
    /// Hash made with the current master key, if the stored hash was made with another or unknown key.
    pub(crate) rehashed: Option<Rehashed>,
}

/// The hash of a secret, and the mark of the master key it was made with.
pub(crate) struct Rehashed {
    pub(crate) hash: Vec<u8>,
    pub(crate) mark: Vec<u8>,
}

/// Records the use of a key.
///
/// Runs across tenants because no principal exists yet.
pub(crate) async fn note_key_use(db: &Database, used: &KeyUse) -> Result<()> {
    let (hash, mark) = used.rehashed.as_ref().map(|anew| (&anew.hash[..], &anew.mark[..])).unzip();
    let mut tx = SystemTx::begin_about(db, used.tenant, "system.note_key_use").await?;
    sqlx::query!(
        "-- system.note_key_use
        update api_keys
        set last_used_at = $3, secret_hash = coalesce($4, secret_hash), hashed_under = coalesce($5, hashed_under)
        where tenant_id = $1 and key_id = $2",
        used.tenant.0,
        used.key.0,
        used.now,
        hash,
        mark
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}
