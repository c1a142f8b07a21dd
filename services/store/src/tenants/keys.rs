//! API keys of a tenant's backends. Only a keyed hash of the secret is stored.

use chrono::{DateTime, Utc};
use knowhow_domain::{ApiKey, Error, KeyId, Result, new_id};

use crate::TenantTx;
use crate::across::tenants;
use crate::vault::error::refuse;

pub use crate::across::sealed::{SealedAt, SealedSecret, count_hashed_otherwise, list_sealed, put_sealed};

/// Maximum number of active keys per tenant.
pub const WORKING_KEYS: i64 = 100;

/// Stored form of a key's secret.
#[derive(Debug, Clone, Copy)]
pub struct Hashed<'a> {
    /// Keyed hash of the secret.
    pub hash: &'a [u8],
    /// Mark of the master key that the hash was made with.
    pub mark: &'a [u8],
}

/// Stores a new key.
///
/// # Errors
/// `Quota` if the tenant has [`WORKING_KEYS`] that are neither revoked nor expired.
pub async fn create(tx: &mut TenantTx, key: &ApiKey, secret: Hashed<'_>) -> Result<()> {
    tenants::count_alone(tx, "api_keys").await?;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let made = sqlx::query!(
        "-- keys.create
        with made as (
            insert into api_keys (tenant_id, key_id, prefix, secret_hash, name, scopes, created_at, expires_at, hashed_under)
            select $1, $3, $4, $5, $6, $7, $8, $9, $13
            where $12 > (select count(*) from api_keys
                         where tenant_id = $1 and revoked_at is null and (expires_at is null or expires_at > $8))
            returning prefix
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
        select $1, $2, $10, $8, $11, 'key.create', prefix from made",
        tenant,
        user,
        key.id.0,
        key.prefix,
        secret.hash,
        key.name,
        &scopes as &[&str],
        key.created_at,
        key.expires_at,
        new_id(),
        actor,
        WORKING_KEYS,
        secret.mark
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    if made == 0 { Err(too_many()) } else { Ok(()) }
}

fn too_many() -> Error {
    Error::Quota(format!("the tenant has reached its limit of {WORKING_KEYS} active API keys; revoke one"))
}

/// A new key that replaces an old one.
#[derive(Debug, Clone, Copy)]
pub struct Successor<'a> {
    pub id: KeyId,
    /// Prefix of the new key.
    pub prefix: &'a str,
    /// Stored form of the new key's secret.
    pub secret: Hashed<'a>,
    /// Time at which the old key stops working, unless it expires earlier.
    pub old_ends_at: DateTime<Utc>,
    pub now: DateTime<Utc>,
}

/// Creates a key with the name, scopes and expiry of an old key. The old key works until `new.old_ends_at`.
///
/// # Errors
/// `NotFound`; `Conflict` `key-ended` if the old key has expired or was revoked; `Quota` as for a new key.
pub async fn rotate(tx: &mut TenantTx, old: KeyId, new: Successor<'_>) -> Result<ApiKey> {
    tenants::count_alone(tx, "api_keys").await?;
    let found = find(tx, old).await?.ok_or_else(|| Error::not_found("API key"))?;
    if found.revoked_at.is_some() || found.expires_at.is_some_and(|at| at <= new.now) {
        let detail = "the key has expired or was revoked; create another one".into();
        return Err(Error::Conflict { code: "key-ended", detail });
    }
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let made = sqlx::query!(
        "-- keys.rotate
        with made as (
            insert into api_keys (tenant_id, key_id, prefix, secret_hash, hashed_under, name, scopes, created_at, expires_at)
            select $1, $4, $5, $6, $7, k.name, k.scopes, $8,
                   case when k.rotated_at is null then k.expires_at else k.first_expires_at end
            from api_keys k
            where k.tenant_id = $1 and k.key_id = $3
              and $12 > (select count(*) from api_keys w
                         where w.tenant_id = $1 and w.revoked_at is null and (w.expires_at is null or w.expires_at > $8))
            returning prefix
        ), ended as (
            update api_keys k
            set expires_at = least(coalesce(k.expires_at, $9), $9), rotated_at = coalesce(k.rotated_at, $8),
                first_expires_at = case when k.rotated_at is null then k.expires_at else k.first_expires_at end
            from made where k.tenant_id = $1 and k.key_id = $3
            returning k.prefix, k.expires_at
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $10, $8, $11, 'key.rotate', e.prefix, jsonb_build_object('by', m.prefix, 'until', e.expires_at)
        from made m, ended e",
        tenant,
        user,
        old.0,
        new.id.0,
        new.prefix,
        new.secret.hash,
        new.secret.mark,
        new.now,
        new.old_ends_at,
        new_id(),
        actor,
        WORKING_KEYS
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    if made == 0 {
        return Err(too_many());
    }
    find(tx, new.id).await?.ok_or_else(|| Error::internal("the new key is missing"))
}

async fn find(tx: &mut TenantTx, id: KeyId) -> Result<Option<ApiKey>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    let row = sqlx::query!(
        "-- keys.find
        select key_id, prefix, name, scopes, created_at, expires_at, revoked_at, last_used_at
        from api_keys where tenant_id = $1 and key_id = $2",
        tenant,
        id.0
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(|row| ApiKey {
        id: KeyId(row.key_id),
        tenant: slug,
        prefix: row.prefix,
        name: row.name,
        scopes: row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    }))
}

/// Lists a page of keys, newest first, starting before the key `before`.
pub async fn list(tx: &mut TenantTx, before: Option<KeyId>, limit: i64) -> Result<Vec<ApiKey>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    let rows = sqlx::query!(
        r#"-- keys.list
        select key_id, prefix, name, scopes, created_at, expires_at, revoked_at,
               last_used_at
        from api_keys
        where tenant_id = $1 and ($2::uuid is null or key_id < $2)
        order by key_id desc
        limit $3"#,
        tenant,
        before.map(|key| key.0),
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    let keys = rows.into_iter().map(|row| ApiKey {
        id: KeyId(row.key_id),
        tenant: slug.clone(),
        prefix: row.prefix,
        name: row.name,
        // Unknown scopes, added by a later release, are ignored.
        scopes: row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    });
    Ok(keys.collect())
}

/// Revokes a key permanently. The key stops working within a second. A repeated call has no effect.
pub async fn revoke(tx: &mut TenantTx, id: KeyId, now: DateTime<Utc>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let revoked = sqlx::query!(
        "-- keys.revoke
        with revoked as (
            update api_keys set revoked_at = coalesce(revoked_at, $4) where tenant_id = $1 and key_id = $3
            returning prefix
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
        select $1, $2, $5, $4, $6, 'key.revoke', prefix from revoked",
        tenant,
        user,
        id.0,
        now,
        new_id(),
        actor
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    if revoked == 0 { Err(Error::not_found("API key")) } else { Ok(()) }
}
