//! Repairs a database that was restored from an older backup. Cached data of a process may be newer than the
//! database, so revisions are increased. Users erased after the backup are erased again. Runs as the role of the
//! migration URL.

use knowhow_domain::{Error, Result};
use sqlx::{Connection, Executor, Row};

use crate::DatabaseUrl;
use crate::tenants::erasures::LedgerLine;
use crate::vault::connect::CheckedConnector;
use crate::vault::error::refuse;

/// Numbers of repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Number of users with increased revisions.
    pub users: i64,
    /// Number of users that were erased again. Workers delete their rows.
    pub erased: i64,
}

/// Increases the revisions of all users, adds `ledger` to the erasures in the database, and erases these users again.
/// It is safe to repeat the call.
///
/// # Errors
/// `Unavailable` if the server is unreachable; `Internal` if the schema is not up to date.
pub async fn note_restored(owner_url: &str, ledger: &[LedgerLine]) -> Result<Restored> {
    let lines = serde_json::to_value(ledger).map_err(Error::internal)?;
    let owner = CheckedConnector(DatabaseUrl::parse(owner_url)?);
    let mut conn = owner.connect().await.map_err(|error| Error::Unavailable(error.to_string()))?;
    let mut tx = conn.begin().await.map_err(refuse)?;
    tx.execute("-- restored.as_owner\nset local role knowhow_owner").await.map_err(refuse)?;
    let done = sqlx::query("-- restored.note\nselect users, erased from app.note_restored($1)").bind(lines);
    let done = done.fetch_one(&mut *tx).await.map_err(refuse)?;
    tx.commit().await.map_err(refuse)?;
    conn.close().await.map_err(refuse)?;
    Ok(Restored { users: done.try_get(0).map_err(refuse)?, erased: done.try_get(1).map_err(refuse)? })
}
