//! Entries that no seal is over yet: whose they are, which are next, and the seal over them.
//!
//! Why across tenants: as `across/seals.rs`.

use knowhow_domain::{Result, TenantId};
use uuid::Uuid;

use super::{Digested, Range, Seal, Span};
use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// The seal before the first one.
const NO_SEAL: [u8; 32] = [0; 32];

/// A tenant with entries that no seal is over, and its last seal.
#[derive(Debug, Clone)]
pub struct Unsealed {
    /// Whose they are.
    pub tenant: TenantId,
    number: i64,
    behind: Uuid,
    previous_hash: Vec<u8>,
}

/// Tenants with such entries before an id, and those of no tenant, which are refused logins.
///
/// # Errors
/// `Unavailable`.
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
    /// Which entries are next.
    pub fn next(&self, before: Uuid, most: i32) -> Range {
        Range { tenant: self.tenant, behind: self.behind, upto: before, most }
    }

    /// The seal over what was digested; `None` where that is nothing.
    pub fn seal(&self, digested: &Digested) -> Option<Seal> {
        let Span { last_id, first_at, last_at } = digested.span?;
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

    /// What is behind that seal.
    #[must_use]
    pub fn behind(&self, seal: &Seal) -> Self {
        let (number, behind) = (seal.number + 1, seal.last_id);
        Self { tenant: self.tenant, number, behind, previous_hash: seal.seal_hash.clone() }
    }
}
