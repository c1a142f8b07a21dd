//! Reads all data of a user in one consistent snapshot: every table with user rows that the Postgres catalogue lists.

use knowhow_domain::{Result, UserId};
use sqlx::{Executor, Row};

use crate::vault::error::refuse;
use crate::{Database, Principal, TenantTx};

/// Number of rows per fetch. One row may be a file of a megabyte.
const ROWS: usize = 16;

/// A table, and the role that may read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedTable {
    pub name: String,
    reader: String,
}

/// Begins to read all data of a user as an admin of the tenant. All statements see the same snapshot, the one of the
/// first statement.
///
/// # Errors
/// `Forbidden` unless the caller is an admin; `Unavailable`.
pub async fn begin(db: &Database, principal: &Principal, user: UserId) -> Result<TenantTx> {
    let mut tx = TenantTx::begin_reading(db, principal, user, "takeout.begin").await?;
    // The transaction is idle while the client reads the rows.
    let held = "-- takeout.begin\nset local idle_in_transaction_session_timeout = '60s'";
    tx.conn().execute(held).await.map_err(refuse)?;
    Ok(tx)
}

/// Lists the tables by name.
pub async fn list_tables(tx: &mut TenantTx) -> Result<Vec<ExportedTable>> {
    let sql = "-- takeout.list_tables\nselect named, reader from app.tables_to_take()";
    let rows = tx.conn().fetch_all(sql).await.map_err(refuse)?;
    let table = |row: &sqlx::postgres::PgRow| Ok(ExportedTable { name: row.try_get(0)?, reader: row.try_get(1)? });
    rows.iter().map(table).collect::<sqlx::Result<_>>().map_err(refuse)
}

/// Opens a table for reading. Only one table may be open; [`close`] closes it.
pub async fn open(tx: &mut TenantTx, table: &ExportedTable) -> Result<()> {
    let role = match table.reader.as_str() {
        "knowhow_tenant" => "-- takeout.as_tenant\nset local role knowhow_tenant",
        _ => "-- takeout.as_admin\nset local role knowhow_admin",
    };
    tx.conn().execute(role).await.map_err(refuse)?;
    let opened = sqlx::query("-- takeout.open\nselect app.open_rows($1)").bind(&table.name);
    opened.execute(tx.conn()).await.map_err(refuse)?;
    Ok(())
}

/// Returns the next rows of the open table as lines of JSON. Returns an empty list after the last row.
pub async fn next(tx: &mut TenantTx) -> Result<Vec<String>> {
    let mut lines = Vec::with_capacity(ROWS);
    let rows = tx.conn().fetch_all("-- takeout.next\nfetch 16 from taken_rows").await.map_err(refuse)?;
    for row in rows {
        lines.push(row.try_get(0).map_err(refuse)?);
    }
    Ok(lines)
}

/// Closes the open table and continues as an admin.
pub async fn close(tx: &mut TenantTx) -> Result<()> {
    for statement in ["-- takeout.close\nclose taken_rows", "-- takeout.admin_again\nset local role knowhow_admin"] {
        tx.conn().execute(statement).await.map_err(refuse)?;
    }
    Ok(())
}
