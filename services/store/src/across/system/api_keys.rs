//! Whose an API key is, and that it was used.
//!
//! Why across tenants: until its row is found nobody knows whose the key is, and its use is noted before there is
//! a principal.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::{KeyId, Result, TenantId};
use uuid::Uuid;

use super::TenantRow;
use crate::Database;
use crate::error::refuse;
use crate::vault::gate::KnownKey;
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
///
/// Why: only the row of a key says which tenant it belongs to.
pub(crate) async fn find_keys(db: &Database, prefix: &str) -> Result<Vec<KnownKey>> {
    let key = |(row, tenant): (KeyRow, TenantRow)| KnownKey {
        id: KeyId(row.key_id),
        tenant: Arc::new(tenant.into_known(db)),
        secret_hash: row.secret_hash,
        hashed_under: row.hashed_under,
        // A scope that only a later release knows gives no right here.
        scopes: row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
    };
    Ok(look_up(db, FindKeys { prefix }).await?.into_iter().map(key).collect())
}

/// An API key that was used.
pub(crate) struct KeyUse {
    pub(crate) tenant: TenantId,
    pub(crate) key: KeyId,
    pub(crate) now: DateTime<Utc>,
    /// Its secret under the current master key, where the row has another hash or does not say under which it is.
    pub(crate) rehashed: Option<Rehashed>,
}

/// A secret's hash, and the mark of the master key that it is under.
pub(crate) struct Rehashed {
    pub(crate) hash: Vec<u8>,
    pub(crate) mark: Vec<u8>,
}

/// Why: the login of a key is not yet a principal when its use is noted.
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
