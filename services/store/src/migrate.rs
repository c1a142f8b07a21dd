//! Bringing the schema up to date. Runs as the role of the migration URL, never as the service's login.

use std::time::Duration;

use knowhow_domain::{Error, Result};
use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;
use sqlx::{Connection, Executor, PgExecutor, Row};

use crate::connect::Checked;
use crate::error::refuse;
use crate::login::{self, Login};
use crate::{DatabaseUrl, Unreachable};
use crate::{prepare, queue};

static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// Tries of one migration. Each collision means that another process got a step further.
const TRIES: usize = 10;

/// Longest wait of a migration for a lock. Whoever wants to read the table meanwhile stands in line behind it, and is promised an
/// answer within a second.
const LOCK_TIMEOUT: &str = "set lock_timeout = '500ms'";

/// Tries of migrations that did not get a lock: somebody reads or writes the table in a long transaction, or migrates.
const LOCK_TRIES: usize = 80;

/// Between two of these tries, for those who stood in line.
const LOCK_PAUSE: Duration = Duration::from_secs(1);

/// Applies what is missing, and sees to the role by which the service logs in. Any number of processes may do so at once.
///
/// # Errors
/// `Unavailable` where the server is out of reach; `Conflict` `migration-changed` where an applied migration differs
/// from ours, and `cannot-migrate`, with what to do, where the server or the role of `owner_url` is not fit for it.
pub async fn migrate(owner_url: &str, login: Option<&Login>) -> Result<()> {
    let owner = DatabaseUrl::parse(owner_url)?;
    let (mut tries, mut lock_tries) = (1, 1);
    let outcome = loop {
        match bring_up(&owner, login).await {
            Err(Failure::Migration(error)) if is_collision(&error) && tries < TRIES => tries += 1,
            Err(Failure::Migration(error)) if is_locked_out(&error) && lock_tries < LOCK_TRIES => {
                lock_tries += 1;
                tokio::time::sleep(LOCK_PAUSE).await;
            }
            outcome => break outcome,
        }
    };
    outcome.map_err(|failure| match failure {
        Failure::Migration(error) if is_locked_out(&error) => Error::Conflict {
            code: "cannot-migrate",
            detail: "a migration did not get its lock on a table within two minutes, as somebody holds one in a long transaction \
                     or migrates too; see pg_stat_activity for it, and run knowhow migrate again"
                .into(),
        },
        Failure::Unreachable(error) => Error::Unavailable(error.to_string()),
        Failure::Obstacle(detail) => Error::Conflict { code: "cannot-migrate", detail },
        Failure::Migration(MigrateError::VersionMismatch(version)) => Error::Conflict {
            code: "migration-changed",
            detail: format!("migration {version} was applied in another form; this binary does not fit the database"),
        },
        Failure::Migration(MigrateError::Execute(error)) => refuse(error),
        Failure::Migration(other) => Error::internal(other),
    })
}

enum Failure {
    /// What somebody must do first.
    Obstacle(String),
    Migration(MigrateError),
    Unreachable(Unreachable),
}

impl<E: Into<MigrateError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Migration(error.into())
    }
}

async fn bring_up(owner: &DatabaseUrl, login: Option<&Login>) -> Result<(), Failure> {
    let mut conn = Checked(owner.clone()).connect().await.map_err(Failure::Unreachable)?;
    conn.execute(LOCK_TIMEOUT).await?;
    if let Some(obstacle) = prepare::obstacle(&mut conn, login).await? {
        return Err(Failure::Obstacle(obstacle));
    }
    if let Some(login) = login {
        login::make(&mut conn, login).await?;
    }
    MIGRATOR.run(&mut conn).await?;
    conn.execute("grant select on _sqlx_migrations to knowhow_system").await?;
    // The months to come, which a worker makes too: a database that was restored, or had no worker for long, may want them.
    conn.execute("begin; set local role knowhow_owner; select app.ensure_partitions(); commit").await?;
    if let Some(login) = login {
        login::admit(&mut conn, login).await?;
    }
    queue::install(&mut conn, owner.clone()).await?;
    conn.close().await?;
    Ok(())
}

/// Roles belong to the whole server, and Postgres lets nobody wait for their rows: two that change one at the same time,
/// in this database or another, collide (XX000; 23505 or 42710 where both add it).
fn is_collision(error: &MigrateError) -> bool {
    said_by_postgres(error).is_some_and(|e| match e.code().as_deref() {
        Some("XX000") => e.message().starts_with("tuple concurrently"),
        code => matches!(code, Some("23505" | "42710")),
    })
}

/// 55P03, `lock_not_available`. Each migration is one transaction, so nothing of it is done.
fn is_locked_out(error: &MigrateError) -> bool {
    said_by_postgres(error).is_some_and(|e| e.code().as_deref() == Some("55P03"))
}

fn said_by_postgres(error: &MigrateError) -> Option<&dyn DatabaseError> {
    let (MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) = error else { return None };
    error.as_database_error()
}

pub(crate) async fn list_applied(conn: impl PgExecutor<'_>) -> Result<Vec<(i64, Vec<u8>)>> {
    let rows = conn
        .fetch_all(
            "-- migrate.list_applied\nselect version, checksum from _sqlx_migrations where success order by version",
        )
        .await
        .map_err(refuse)?;
    rows.iter().map(|row| Ok((row.try_get(0).map_err(refuse)?, row.try_get(1).map_err(refuse)?))).collect()
}

pub(crate) fn compare(applied: &[(i64, Vec<u8>)]) -> Option<String> {
    let ours: Vec<(i64, Vec<u8>)> = MIGRATOR.iter().map(|m| (m.version, m.checksum.to_vec())).collect();
    let missing = ours.iter().filter(|(version, _)| !applied.iter().any(|(v, _)| v == version)).count();
    let changed = ours.iter().find(|(version, sum)| applied.iter().any(|(v, s)| v == version && s != sum));
    if missing > 0 {
        return Some(format!("{missing} migrations are missing: run knowhow migrate"));
    }
    changed.map(|(version, _)| format!("migration {version} was applied in another form"))
}
