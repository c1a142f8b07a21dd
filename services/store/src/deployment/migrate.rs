//! Migrates the schema. Runs as the role of the migration URL, never as the service's login.

use std::time::Duration;

use knowhow_domain::{Error, Result};
use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;
use sqlx::{Connection, Executor, PgConnection, PgExecutor};

use crate::jobs;
use crate::vault::connect::CheckedConnector;
use crate::vault::error::refuse;
use crate::vault::login::{self, Login};
use crate::vault::prepare;
use crate::{DatabaseUrl, Unreachable};

static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// Maximum number of attempts at a migration after collisions. Each collision means that another process has completed
/// a step.
const TRIES: usize = 10;

/// Maximum time that a migration waits for a lock. Other statements on the table wait for the migration in the
/// meantime, and must get an answer within a second.
const LOCK_TIMEOUT: &str = "set lock_timeout = '500ms'";

/// Maximum number of attempts after lock timeouts. A long transaction or another migration causes them.
const LOCK_TRIES: usize = 80;

/// Pause between two attempts, so that waiting requests can run.
const LOCK_PAUSE: Duration = Duration::from_secs(1);

/// Applies missing migrations and creates the service's login role. Several processes may run this concurrently.
///
/// # Errors
/// `Unavailable` if the server is unreachable; `Conflict` `migration-changed` if an applied migration differs from
/// the one in this build; `Conflict` `migration-unknown` if this build lacks an applied migration; `Conflict`
/// `cannot-migrate` with instructions if the server or the role of `owner_url` is unsuitable.
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
            detail: "a migration could not lock a table within two minutes, because of a long transaction or another migration; \
                     or migrates too; see pg_stat_activity for it, and run knowhow migrate again"
                .into(),
        },
        Failure::Unreachable(error) => Error::Unavailable(error.to_string()),
        Failure::Obstacle(detail) => Error::Conflict { code: "cannot-migrate", detail },
        Failure::Changed(version) => Error::Conflict { code: "migration-changed", detail: explain_changed(version) },
        Failure::Unknown(version) => Error::Conflict {
            code: "migration-unknown",
            detail: format!("migration {version} was applied by a newer version of Knowhow; run that version or a newer one"),
        },
        Failure::Migration(MigrateError::Execute(error)) => refuse(error),
        Failure::Migration(other) => Error::internal(other),
    })
}

enum Failure {
    /// Problem that an operator must solve first.
    Obstacle(String),
    /// Number of an applied migration that differs from the one in this build.
    Changed(i64),
    /// Number of an applied migration that this build lacks.
    Unknown(i64),
    Migration(MigrateError),
    Unreachable(Unreachable),
}

impl<E: Into<MigrateError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Migration(error.into())
    }
}

async fn bring_up(owner: &DatabaseUrl, login: Option<&Login>) -> Result<(), Failure> {
    let mut conn = CheckedConnector(owner.clone()).connect().await.map_err(Failure::Unreachable)?;
    conn.execute(LOCK_TIMEOUT).await?;
    if let Some(obstacle) = prepare::obstacle(&mut conn, login).await? {
        return Err(Failure::Obstacle(obstacle));
    }
    if let Some(login) = login {
        login::make(&mut conn, login).await?;
    }
    match MIGRATOR.run(&mut conn).await {
        Err(MigrateError::VersionMissing(unknown)) => return Err(explain_unknown(&mut conn, unknown).await?),
        Err(MigrateError::VersionMismatch(version)) => return Err(Failure::Changed(version)),
        outcome => outcome?,
    }
    conn.execute("grant select on _sqlx_migrations to knowhow_system").await?;
    // Creates partitions for the coming months, like a worker does. A database may lack them if it was restored or
    // had no worker for long.
    conn.execute("begin; set local role knowhow_owner; select app.ensure_partitions(); commit").await?;
    if let Some(login) = login {
        login::admit(&mut conn, login).await?;
    }
    jobs::install(&mut conn, owner.clone()).await?;
    conn.close().await?;
    Ok(())
}

/// Returns the reason why the database has a migration that this build lacks. The development versions before 0.1.0
/// had more migrations, and other ones under the same numbers. Otherwise the migration is of a newer version.
async fn explain_unknown(conn: &mut PgConnection, unknown: i64) -> Result<Failure, MigrateError> {
    let applied: Vec<(i64, Vec<u8>)> = sqlx::query_as(APPLIED).fetch_all(conn).await?;
    Ok(find_changed(&applied).map_or(Failure::Unknown(unknown), Failure::Changed))
}

fn explain_changed(version: i64) -> String {
    format!(
        "migration {version} was applied with other contents: a development version from before 0.1.0 made this database; \
         make a new database and import an export, which the program that made this one can write"
    )
}

/// Returns whether two processes changed a role at the same time, in this database or another one. Roles belong to
/// the whole server, and Postgres does not lock their rows. Postgres reports XX000, or 23505 or 42710 if both
/// processes create the role.
fn is_collision(error: &MigrateError) -> bool {
    database_error(error).is_some_and(|e| match e.code().as_deref() {
        Some("XX000") => e.message().starts_with("tuple concurrently"),
        code => matches!(code, Some("23505" | "42710")),
    })
}

/// Returns whether a lock timed out (55P03, `lock_not_available`). If so, the migration was rolled back, because each
/// one is a transaction.
fn is_locked_out(error: &MigrateError) -> bool {
    database_error(error).is_some_and(|e| e.code().as_deref() == Some("55P03"))
}

fn database_error(error: &MigrateError) -> Option<&dyn DatabaseError> {
    let (MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) = error else { return None };
    error.as_database_error()
}

const APPLIED: &str =
    "-- migrate.list_applied\nselect version, checksum from _sqlx_migrations where success order by version";

pub(crate) async fn list_applied(conn: impl PgExecutor<'_>) -> Result<Vec<(i64, Vec<u8>)>> {
    sqlx::query_as(APPLIED).fetch_all(conn).await.map_err(refuse)
}

/// Returns the first migration of this build that was applied with other contents.
fn find_changed(applied: &[(i64, Vec<u8>)]) -> Option<i64> {
    let is_changed = |version, sum: &[u8]| applied.iter().any(|(v, s)| *v == version && s != sum);
    MIGRATOR.iter().find(|m| is_changed(m.version, &m.checksum)).map(|m| m.version)
}

pub(crate) fn compare(applied: &[(i64, Vec<u8>)]) -> Option<String> {
    if let Some(version) = find_changed(applied) {
        return Some(explain_changed(version));
    }
    let missing = MIGRATOR.iter().filter(|m| !applied.iter().any(|(version, _)| *version == m.version)).count();
    (missing > 0).then(|| format!("{missing} migrations are missing: run knowhow migrate"))
}
