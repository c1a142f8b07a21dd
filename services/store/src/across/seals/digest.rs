//! Computes digests of audit entries inside the database, so that they are not transferred.
//!
//! Runs across tenants for the reason given in `across/seals.rs`.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, TenantId};
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Digest of a range of entries.
#[derive(Debug, Clone)]
pub struct Digested {
    pub entries: i32,
    /// Digest of the entries.
    pub hash: Vec<u8>,
    /// Number of entries with deleted content although no erased user explains it.
    pub unexplained: i32,
    /// Range of the entries; `None` if there are no entries.
    pub span: Option<EntryRange>,
}

/// Last id and times of a range of entries.
#[derive(Debug, Clone, Copy)]
pub struct EntryRange {
    /// Id of the last entry.
    pub last_id: Uuid,
    /// Time of the first entry.
    pub first_at: DateTime<Utc>,
    /// Time of the last entry.
    pub last_at: DateTime<Utc>,
}

/// A range of a tenant's entries.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub tenant: TenantId,
    /// Entry id before the range (exclusive).
    pub behind: Uuid,
    /// Id of the last entry of the range (inclusive).
    pub upto: Uuid,
    /// Maximum number of entries to read.
    pub most: i32,
}

/// Computes the digest of a range of entries.
pub async fn digest(db: &Database, range: Range) -> Result<Digested> {
    let mut tx = SystemTx::begin_at_leisure(db, "seals.digest").await?;
    let row = sqlx::query!(
        r#"-- seals.digest
        select d.entries as "entries!", d.hash as "hash!", d.last_id, d.first_at, d.last_at, d.unexplained as "unexplained!"
        from app.digest_entries($1, $2, $3, $4) d"#,
        range.tenant.0,
        range.behind,
        range.upto,
        range.most
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    let span = match (row.last_id, row.first_at, row.last_at) {
        (Some(last_id), Some(first_at), Some(last_at)) => Some(EntryRange { last_id, first_at, last_at }),
        _ => None,
    };
    Ok(Digested { entries: row.entries, hash: row.hash, unexplained: row.unexplained, span })
}
