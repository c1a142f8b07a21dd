//! The hash chain of the audit log. A seal covers a range of entries and contains the digest of the previous seal.
//!
//! Runs across tenants because any tenant may have unsealed entries. Tenants' roles must not write seals: an attacker
//! with such a role could otherwise hide changes.

mod digest;
mod unsealed;

use chrono::{DateTime, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Result, TenantId};
use uuid::Uuid;

pub use digest::{Digested, EntryRange, Range, digest};
pub use unsealed::{Unsealed, list_unsealed};

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// A stored seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// Number of the seal within its tenant, starting at 1.
    pub number: i64,
    /// Id of the last entry of the previous seal.
    pub behind: Uuid,
    /// Id of the last entry of this seal.
    pub last_id: Uuid,
    pub entries: i32,
    /// Digest of the entries.
    pub entries_hash: Vec<u8>,
    /// Digest of the previous seal.
    pub previous_hash: Vec<u8>,
    /// Digest of this seal.
    pub seal_hash: Vec<u8>,
    /// MAC of the seal under the deployment's master key.
    pub mac: Vec<u8>,
    /// Mark of the master key that the MAC was made with.
    pub mac_under: Vec<u8>,
    /// Time of the first entry.
    pub first_at: DateTime<Utc>,
    /// Time of the last entry.
    pub last_at: DateTime<Utc>,
}

impl Seal {
    /// Computes the digest of the seal.
    pub fn hash(&self, tenant: TenantId) -> [u8; 32] {
        // All fields have a fixed length, so their concatenation is unambiguous.
        let fields: [&[u8]; 10] = [
            b"knowhow/v1/audit-seal",
            tenant.0.as_bytes(),
            &self.number.to_be_bytes(),
            &self.previous_hash,
            self.behind.as_bytes(),
            self.last_id.as_bytes(),
            &self.entries.to_be_bytes(),
            &self.entries_hash,
            &self.first_at.timestamp_micros().to_be_bytes(),
            &self.last_at.timestamp_micros().to_be_bytes(),
        ];
        manifest::digest(&fields.concat())
    }
}

/// Stores a seal. Returns `false` if another worker has stored a seal with this number.
pub async fn add(db: &Database, tenant: TenantId, seal: &Seal, now: DateTime<Utc>) -> Result<bool> {
    let mut tx = SystemTx::begin_at_leisure(db, "seals.add").await?;
    let added = sqlx::query!(
        "-- seals.add
        insert into audit_seals (tenant_id, number, behind, last_id, entries, entries_hash, previous_hash, seal_hash, mac,
                                 mac_under, first_at, last_at, sealed_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        on conflict do nothing",
        tenant.0,
        seal.number,
        seal.behind,
        seal.last_id,
        seal.entries,
        &seal.entries_hash,
        &seal.previous_hash,
        &seal.seal_hash,
        &seal.mac,
        &seal.mac_under,
        seal.first_at,
        seal.last_at,
        now
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    tx.commit().await?;
    Ok(added > 0)
}

/// Lists seals of a tenant, in order, starting after the number `behind`.
pub async fn list(db: &Database, tenant: TenantId, behind: i64, limit: i64) -> Result<Vec<Seal>> {
    let mut tx = SystemTx::begin_at_leisure(db, "seals.list").await?;
    let seals = sqlx::query_as!(
        Seal,
        "-- seals.list
        select number, behind, last_id, entries, entries_hash, previous_hash, seal_hash, mac, mac_under, first_at, last_at
        from audit_seals where tenant_id = $1 and number > $2 order by number limit $3",
        tenant.0,
        behind,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(seals)
}

/// A tenant with an audit log.
#[derive(Debug, Clone)]
pub struct LoggedTenant {
    /// Tenant id; nil for rejected logins without a tenant.
    pub tenant: TenantId,
    pub slug: String,
    /// Retention of entries in days.
    pub days: i32,
}

/// Lists tenants ordered by slug, starting after `behind`, or only the tenant `only`. The nil tenant of rejected logins
/// comes first.
pub async fn list_logged(db: &Database, only: Option<&str>, behind: &str) -> Result<Vec<LoggedTenant>> {
    let mut tx = SystemTx::begin_at_leisure(db, "seals.list_logged").await?;
    let rows = sqlx::query!(
        r#"-- seals.list_logged
        select t.tenant_id as "tenant_id!", t.slug as "slug!", app.audit_days(t.tenant_id) as "days!"
        from (select n.tenant_id, n.slug from tenants n
              where not exists (select from tenants_elsewhere e where e.tenant = n.tenant_id)
              union all select $3, '-') t
        where t.slug collate "C" > $2 collate "C" and ($1::text is null or t.slug = $1)
        order by t.slug collate "C"
        limit 1000"#,
        only,
        behind,
        Uuid::nil()
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(rows
        .into_iter()
        .map(|row| LoggedTenant { tenant: TenantId(row.tenant_id), slug: row.slug, days: row.days })
        .collect())
}

/// Deletes seals when the retention of all their entries has ended, except the last seal of each tenant. Returns their
/// number.
pub async fn prune(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let mut tx = SystemTx::begin_at_leisure(db, "seals.prune").await?;
    let removed = sqlx::query!(
        "-- seals.prune
        delete from audit_seals where (tenant_id, number) in (
            select s.tenant_id, s.number from audit_seals s
            where s.last_at < $1::timestamptz - make_interval(days => app.audit_days(s.tenant_id) + 1)
              and exists (select from audit_seals l where l.tenant_id = s.tenant_id and l.number > s.number)
            limit $2)",
        now,
        batch
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    tx.commit().await?;
    Ok(removed)
}
