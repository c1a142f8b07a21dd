//! After the database was put back to an older state: no process may take what it remembers for newer than what is there, and
//! whoever was erased since is erased again. Runs as the role of the migration URL.

use knowhow_domain::{Error, Result};
use sqlx::{Connection, Executor, Row};

use crate::DatabaseUrl;
use crate::connect::Checked;
use crate::erasures::LedgerLine;
use crate::error::refuse;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Users whose revisions were lifted.
    pub users: i64,
    /// Users who are erased again; workers remove their rows.
    pub erased: i64,
}

/// Lifts the revisions of all users, adds `ledger` to what the database says of erasures, and erases anew whom it has again.
/// Done twice it does no harm.
///
/// # Errors
/// `Unavailable` where the server is out of reach; `Internal` where the schema is not up to date.
pub async fn note_restored(owner_url: &str, ledger: &[LedgerLine]) -> Result<Restored> {
    let lines = serde_json::to_value(ledger).map_err(Error::internal)?;
    let owner = Checked(DatabaseUrl::parse(owner_url)?);
    let mut conn = owner.connect().await.map_err(|error| Error::Unavailable(error.to_string()))?;
    let mut tx = conn.begin().await.map_err(refuse)?;
    tx.execute("-- restored.as_owner\nset local role knowhow_owner").await.map_err(refuse)?;
    let done = sqlx::query("-- restored.note\nselect users, erased from app.note_restored($1)").bind(lines);
    let done = done.fetch_one(&mut *tx).await.map_err(refuse)?;
    tx.commit().await.map_err(refuse)?;
    conn.close().await.map_err(refuse)?;
    Ok(Restored { users: done.try_get(0).map_err(refuse)?, erased: done.try_get(1).map_err(refuse)? })
}
