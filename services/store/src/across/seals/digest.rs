//! Digests entries of a tenant's audit log in the database, which reads them where they are.
//!
//! Why across tenants: as `across/seals.rs`.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, TenantId};
use uuid::Uuid;

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// What the database says of some entries.
#[derive(Debug, Clone)]
pub struct Digested {
    /// How many there are.
    pub entries: i32,
    /// The digest over them.
    pub hash: Vec<u8>,
    /// Those whose content was taken out, though nobody of that id was erased.
    pub unexplained: i32,
    /// The last one's id, and when the first and the last were made; `None` where there is none.
    pub span: Option<Span>,
}

/// What some entries reach over.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The last one's id.
    pub last_id: Uuid,
    /// When the first was made.
    pub first_at: DateTime<Utc>,
    /// When the last was.
    pub last_at: DateTime<Utc>,
}

/// Which entries of a tenant: at most so many behind one id, up to another.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// Whose.
    pub tenant: TenantId,
    /// Behind this one.
    pub behind: Uuid,
    /// Up to this one.
    pub upto: Uuid,
    /// At most so many.
    pub most: i32,
}

/// Digests entries.
///
/// # Errors
/// `Unavailable`.
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
        (Some(last_id), Some(first_at), Some(last_at)) => Some(Span { last_id, first_at, last_at }),
        _ => None,
    };
    Ok(Digested { entries: row.entries, hash: row.hash, unexplained: row.unexplained, span })
}
