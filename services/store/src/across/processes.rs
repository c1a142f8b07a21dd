//! The processes that use the database. Each process sends heartbeats and deletes the rows of crashed processes.
//!
//! Runs across tenants because a process serves all tenants.

use knowhow_domain::{Process, ProcessId, ProcessKind, Result};

use crate::Database;
use crate::vault::Word;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// The data with which a process registers itself.
#[derive(Debug, Clone)]
pub struct NewProcess {
    pub id: ProcessId,
    pub kind: ProcessKind,
    /// Release of the program.
    pub version: &'static str,
    pub host: String,
    /// Maximum number of connections of the process.
    pub connections: i32,
}

/// Writes a heartbeat, and deletes processes without a heartbeat for a minute, which is three intervals. If a process
/// was deleted while it could not reach the database, its next heartbeat adds it again.
pub async fn note(db: &Database, process: &NewProcess) -> Result<()> {
    let mut tx = SystemTx::begin(db, "processes.note").await?;
    sqlx::query!(
        "-- processes.note
        insert into processes as p (process_id, kind, version, host, connections) values ($1, $2, $3, $4, $5)
        on conflict (process_id) do update set seen_at = now()",
        process.id.0,
        process.kind.as_str(),
        process.version,
        process.host,
        process.connections
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    // Rows locked by another process are skipped to avoid deadlocks.
    sqlx::query!(
        "-- processes.forget
        delete from processes p
        where p.process_id in (select s.process_id from processes s where s.seen_at < now() - interval '60 seconds'
                               for update skip locked)"
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// Deletes a process that is shutting down.
pub async fn remove(db: &Database, process: ProcessId) -> Result<()> {
    let mut tx = SystemTx::begin(db, "processes.remove").await?;
    sqlx::query!(
        "-- processes.remove
        delete from processes where process_id = $1",
        process.0
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await
}

/// Lists the processes with a heartbeat within the last minute, ordered by kind, host and start time.
pub async fn list(db: &Database) -> Result<Vec<Process>> {
    let mut tx = SystemTx::begin(db, "processes.list").await?;
    let processes = sqlx::query_as!(
        Process,
        r#"-- processes.list
        select p.process_id as id, p.kind as "kind: Word<ProcessKind>", p.version, p.host, p.connections, p.started_at, p.seen_at
        from processes p
        where p.seen_at >= now() - interval '60 seconds'
        order by p.kind, p.host, p.started_at, p.process_id"#
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(processes)
}

/// Connection limits that Postgres applies to this login role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// Number of connections that the server allows: `max_connections` minus the reserved connections.
    pub by_server: i32,
    /// Limit of the role, if set.
    pub by_role: Option<i32>,
    /// Limit of the database, if set.
    pub by_database: Option<i32>,
}

/// Returns the connection limits of the server, the role and the database.
pub async fn read_admitted(db: &Database) -> Result<Admitted> {
    let mut tx = SystemTx::begin(db, "processes.read_admitted").await?;
    let admitted = sqlx::query_as!(
        Admitted,
        r#"-- processes.read_admitted
        select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
                   - current_setting('reserved_connections')::integer as "by_server!",
               nullif(r.rolconnlimit, -1) as by_role, nullif(d.datconnlimit, -1) as by_database
        from pg_roles r, pg_database d
        where r.rolname = session_user and d.datname = current_database()"#
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(admitted)
}
