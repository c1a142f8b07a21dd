//! The chain of the audit log: seals over entries, each with the digest of the one before.
//!
//! Why across tenants: whoever could write a tenant's seals could also hide what they changed; and what is to be sealed is a question
//! over all tenants.

mod digest;
mod unsealed;

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, TenantId, manifest};
use uuid::Uuid;

pub use digest::{Digested, Range, Span, digest};
pub use unsealed::{Unsealed, list_unsealed};

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// A seal, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// Counts a tenant's seals from 1.
    pub number: i64,
    /// The entries behind this id...
    pub behind: Uuid,
    /// ... up to this one.
    pub last_id: Uuid,
    /// How many there were.
    pub entries: i32,
    /// The digest over them.
    pub entries_hash: Vec<u8>,
    /// That of the seal before.
    pub previous_hash: Vec<u8>,
    /// That of this seal.
    pub seal_hash: Vec<u8>,
    /// What the deployment says of it.
    pub mac: Vec<u8>,
    /// The mark of the master key that it says so by.
    pub mac_under: Vec<u8>,
    /// When the first of its entries was made.
    pub first_at: DateTime<Utc>,
    /// When the last was.
    pub last_at: DateTime<Utc>,
}

impl Seal {
    /// What its digest must be.
    pub fn hash(&self, tenant: TenantId) -> [u8; 32] {
        // Every member has a fixed length.
        let said: [&[u8]; 10] = [
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
        manifest::digest(&said.concat())
    }
}

/// Keeps a seal; false where another worker was faster.
///
/// # Errors
/// `Unavailable`.
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

/// Seals of a tenant behind a number, in their order.
///
/// # Errors
/// `Unavailable`.
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

/// A tenant whose log is sealed.
#[derive(Debug, Clone)]
pub struct Logged {
    /// Its id; nil for refused logins of no tenant.
    pub tenant: TenantId,
    /// Its slug, by which people know it.
    pub slug: String,
    /// How many days it keeps entries.
    pub days: i32,
}

/// Tenants behind a slug, or the one of that slug alone; at first those logins that were refused and are of no tenant.
///
/// # Errors
/// `Unavailable`.
pub async fn list_logged(db: &Database, only: Option<&str>, behind: &str) -> Result<Vec<Logged>> {
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
    Ok(rows.into_iter().map(|row| Logged { tenant: TenantId(row.tenant_id), slug: row.slug, days: row.days }).collect())
}

/// Removes seals all of whose entries are past their time, but for each tenant's last one. How many.
///
/// # Errors
/// `Unavailable`.
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
