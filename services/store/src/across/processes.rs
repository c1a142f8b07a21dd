//! The processes that use the database: each says that it is there, and sees to it that those that crashed are forgotten.
//!
//! Why across tenants: a process works for all of them, and its row is nobody's.

use knowhow_domain::{Process, ProcessId, ProcessKind, Result};

use crate::Database;
use crate::error::refuse;
use crate::vault::Word;
use crate::vault::tx::SystemTx;

/// What a process says of itself.
#[derive(Debug, Clone)]
pub struct NewProcess {
    pub id: ProcessId,
    pub kind: ProcessKind,
    /// Its release.
    pub version: &'static str,
    /// The name of its host.
    pub host: String,
    /// Connections that it may open at most.
    pub connections: i32,
}

/// Notes that a process is there, and forgets those that have not said so for a minute, three times as long as they wait in between.
/// One that was forgotten while the database was out of its reach comes back with its next word.
///
/// # Errors
/// `Unavailable`.
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
    // A row that another process has in hand is left to it, so that no two wait for each other in a circle.
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

/// Forgets a process that ends.
///
/// # Errors
/// `Unavailable`.
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

/// Lists the processes that were there within the last minute, by kind, host and start.
///
/// # Errors
/// `Unavailable`.
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

/// How many connections the database admits of this login role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// `max_connections`, less those that are kept for others.
    pub by_server: i32,
    /// The role's own limit, where it has one.
    pub by_role: Option<i32>,
    /// The database's own limit, where it has one.
    pub by_database: Option<i32>,
}

/// Reads how many connections are admitted.
///
/// # Errors
/// `Unavailable`.
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
