//! API keys of a tenant's backends. The secret is never stored, only its keyed hash.

use chrono::{DateTime, Utc};
use knowhow_domain::{ApiKey, Error, KeyId, Result, new_id};

use crate::error::refuse;
use crate::{TenantTx, tenants};

/// Most keys of one tenant that work.
pub const WORKING_KEYS: i64 = 100;

/// Stores a new key.
///
/// # Errors
/// `Quota` where the tenant has [`WORKING_KEYS`] that are neither revoked nor expired.
pub async fn create(tx: &mut TenantTx, key: &ApiKey, secret_hash: &[u8]) -> Result<()> {
    tenants::count_alone(tx, "api_keys").await?;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let made = sqlx::query!(
        "-- keys.create
        with made as (
            insert into api_keys (tenant_id, key_id, prefix, secret_hash, name, scopes, created_at, expires_at)
            select $1, $3, $4, $5, $6, $7, $8, $9
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
        secret_hash,
        key.name,
        &scopes as &[&str],
        key.created_at,
        key.expires_at,
        new_id(),
        actor,
        WORKING_KEYS
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    if made == 0 {
        return Err(Error::Quota(format!("the tenant has {WORKING_KEYS} API keys that work, the limit; revoke one")));
    }
    Ok(())
}

/// A page, newest first, `before` a key.
///
/// # Errors
/// `Unavailable`.
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
        // One that only a later release knows gives no right here.
        scopes: row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    });
    Ok(keys.collect())
}

/// Revokes a key for good; it stops working within a second. Revoking twice is the same as once.
///
/// # Errors
/// `NotFound`.
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
