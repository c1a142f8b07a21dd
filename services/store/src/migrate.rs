//! Bringing the schema up to date. Runs as the role of the migration URL, never as the service's login.

use knowhow_domain::{Error, Result};
use sqlx::migrate::MigrateError;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use crate::error::refuse;
use crate::queue;

static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// Tries of one migration. Each collision means that another process got a step further.
const TRIES: usize = 10;

/// Applies what is missing and, where given, sets the password of the login role. Any number of processes may do so at
/// once.
///
/// # Errors
/// `Unavailable` where the server is out of reach; `Conflict` where an applied migration differs from ours.
pub async fn migrate(owner_url: &str, login_password: Option<&str>) -> Result<()> {
    let mut outcome = bring_up(owner_url, login_password).await;
    for _ in 1..TRIES {
        if !outcome.as_ref().is_err_and(is_collision) {
            break;
        }
        outcome = bring_up(owner_url, login_password).await;
    }
    outcome.map_err(|error| match error {
        MigrateError::VersionMismatch(version) => Error::Conflict {
            code: "migration-changed",
            detail: format!("migration {version} was applied in another form; this binary does not fit the database"),
        },
        MigrateError::Execute(error) => refuse(error),
        other => Error::internal(other),
    })
}

async fn bring_up(owner_url: &str, login_password: Option<&str>) -> Result<(), MigrateError> {
    let mut conn = PgConnection::connect(owner_url).await?;
    MIGRATOR.run(&mut conn).await?;
    conn.execute("grant select on _sqlx_migrations to knowhow_system").await?;
    queue::install(&mut conn, owner_url).await.map_err(MigrateError::Execute)?;
    if let Some(password) = login_password {
        let statement: String = sqlx::query("select format('alter role knowhow_login password %L', $1::text)")
            .bind(password)
            .fetch_one(&mut conn)
            .await
            .and_then(|row| row.try_get(0))?;
        conn.execute(AssertSqlSafe(statement)).await?;
    }
    Ok(conn.close().await?)
}

/// Roles belong to the whole server, and Postgres lets nobody wait for their rows: two that change one at the same time,
/// in this database or another, collide (XX000, or 23505 where both add it).
fn is_collision(error: &MigrateError) -> bool {
    let (MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) = error else { return false };
    error.as_database_error().is_some_and(|e| match e.code().as_deref() {
        Some("XX000") => e.message().starts_with("tuple concurrently"),
        code => code == Some("23505"),
    })
}

pub(crate) async fn list_applied(conn: &mut PgConnection) -> Result<Vec<(i64, Vec<u8>)>> {
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
