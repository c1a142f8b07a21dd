//! Bringing the schema up to date. Runs as the role of the migration URL, never as the service's login.

use knowhow_domain::{Error, Result};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use crate::error::refuse;

static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// Applies what is missing and, where given, sets the password of the login role.
///
/// # Errors
/// `Unavailable` where the server is out of reach; `Conflict` where an applied migration differs from ours.
pub async fn migrate(owner_url: &str, login_password: Option<&str>) -> Result<()> {
    let mut conn = PgConnection::connect(owner_url).await.map_err(refuse)?;
    MIGRATOR.run(&mut conn).await.map_err(|error| match error {
        sqlx::migrate::MigrateError::VersionMismatch(version) => Error::Conflict {
            code: "migration-changed",
            detail: format!("migration {version} was applied in another form; this binary does not fit the database"),
        },
        other => Error::internal(other),
    })?;
    conn.execute("grant select on _sqlx_migrations to knowhow_system").await.map_err(refuse)?;
    if let Some(password) = login_password {
        let statement: String = sqlx::query("select format('alter role knowhow_login password %L', $1::text)")
            .bind(password)
            .fetch_one(&mut conn)
            .await
            .and_then(|row| row.try_get(0))
            .map_err(refuse)?;
        conn.execute(AssertSqlSafe(statement)).await.map_err(refuse)?;
    }
    conn.close().await.map_err(refuse)
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
