//! Which starter skills a user was given, so that a release never overwrites and never brings back.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;

use crate::TenantTx;
use crate::error::refuse;

/// A starter as it was installed.
#[derive(Debug, Clone)]
pub struct Install {
    /// The skill's name.
    pub name: String,
    /// SHA-256 of the SKILL.md that was installed.
    pub document_digest: Vec<u8>,
}

/// Locks the user's catalogue and reads the release it has and what was installed.
///
/// # Errors
/// `Unavailable`.
pub async fn lock(tx: &mut TenantTx) -> Result<(Option<Vec<u8>>, Vec<Install>)> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let release = sqlx::query_scalar!(
        "-- starters.lock
        select starters_release from user_catalogs where tenant_id = $1 and user_id = $2 for update",
        tenant,
        user
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    let installs = sqlx::query_as!(
        Install,
        "-- starters.list
        select name, document_digest from starter_installs where tenant_id = $1 and user_id = $2",
        tenant,
        user
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok((release, installs))
}

/// Notes that these were installed and that the user is at `release` now.
///
/// # Errors
/// `Unavailable`.
pub async fn record(tx: &mut TenantTx, release: &[u8], installed: &[Install], now: DateTime<Utc>) -> Result<()> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let names: Vec<&str> = installed.iter().map(|i| i.name.as_str()).collect();
    let digests: Vec<&[u8]> = installed.iter().map(|i| i.document_digest.as_slice()).collect();
    sqlx::query!(
        "-- starters.record
        with noted as (
            insert into starter_installs (tenant_id, user_id, name, document_digest, installed_at)
            select $1, $2, i.name, i.digest, $5 from unnest($3::text[], $4::bytea[]) as i (name, digest)
            on conflict (tenant_id, user_id, name)
            do update set document_digest = excluded.document_digest, installed_at = excluded.installed_at
        )
        update user_catalogs set starters_release = $6 where tenant_id = $1 and user_id = $2",
        tenant,
        user,
        &names as &[&str],
        &digests as &[&[u8]],
        now,
        release
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}
