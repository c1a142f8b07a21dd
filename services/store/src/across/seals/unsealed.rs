//! Unsealed audit entries, and the next seal over them.
//!
//! Runs across tenants for the reason given in `across/seals.rs`.

use knowhow_domain::{Result, TenantId};
use uuid::Uuid;

use super::{Digested, EntryRange, Range, Seal};
use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Previous digest in the first seal of a tenant.
const NO_SEAL: [u8; 32] = [0; 32];

/// A tenant with unsealed entries, and its last seal.
#[derive(Debug, Clone)]
pub struct Unsealed {
    pub tenant: TenantId,
    number: i64,
    behind: Uuid,
    previous_hash: Vec<u8>,
}

/// Lists tenants with unsealed entries before the id `before`, including the nil tenant of rejected logins.
pub async fn list_unsealed(db: &Database, before: Uuid, limit: i64) -> Result<Vec<Unsealed>> {
    let mut tx = SystemTx::begin_at_leisure(db, "seals.list_unsealed").await?;
    let rows = sqlx::query!(
        r#"-- seals.list_unsealed
        select t.tenant_id as "tenant_id!", coalesce(s.number, 0) as "number!", coalesce(s.last_id, $3) as "behind!",
               s.seal_hash as "seal_hash?"
        from (select tenant_id from tenants union all select $3) t
        left join lateral (
            select z.number, z.last_id, z.seal_hash from audit_seals z
            where z.tenant_id = t.tenant_id order by z.number desc limit 1) s on true
        where exists (select from audit_log a
                      where a.tenant_id = t.tenant_id and a.audit_id > coalesce(s.last_id, $3) and a.audit_id < $1)
        limit $2"#,
        before,
        limit,
        Uuid::nil()
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let unsealed = rows.into_iter().map(|row| Unsealed {
        tenant: TenantId(row.tenant_id),
        number: row.number + 1,
        behind: row.behind,
        previous_hash: row.seal_hash.unwrap_or_else(|| NO_SEAL.to_vec()),
    });
    Ok(unsealed.collect())
}

impl Unsealed {
    /// Returns the range of the next entries to seal.
    pub fn next(&self, before: Uuid, most: i32) -> Range {
        Range { tenant: self.tenant, behind: self.behind, upto: before, most }
    }

    /// Returns the seal over the digested entries; `None` if there were no entries.
    pub fn seal(&self, digested: &Digested) -> Option<Seal> {
        let EntryRange { last_id, first_at, last_at } = digested.span?;
        let mut seal = Seal {
            number: self.number,
            behind: self.behind,
            last_id,
            entries: digested.entries,
            entries_hash: digested.hash.clone(),
            previous_hash: self.previous_hash.clone(),
            seal_hash: Vec::new(),
            mac: Vec::new(),
            mac_under: Vec::new(),
            first_at,
            last_at,
        };
        seal.seal_hash = seal.hash(self.tenant).to_vec();
        Some(seal)
    }

    /// Returns the unsealed entries that remain after `seal`.
    #[must_use]
    pub fn behind(&self, seal: &Seal) -> Self {
        let (number, behind) = (seal.number + 1, seal.last_id);
        Self { tenant: self.tenant, number, behind, previous_hash: seal.seal_hash.clone() }
    }
}
