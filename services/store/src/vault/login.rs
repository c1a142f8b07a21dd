//! The service's login role. `knowhow migrate` creates the role if it is missing. A role belongs to the whole server,
//! so the service of another database may use it too. Its password is therefore changed only on request.

use knowhow_domain::Secret;
use sqlx::{AssertSqlSafe, Executor, PgConnection};

/// The login in `KNOWHOW_DATABASE_URL`.
#[derive(Debug, Clone)]
pub struct Login {
    /// Name of the role; `knowhow_login` unless a database has its own login role.
    pub role: String,
    /// Password, if the URL has one.
    pub password: Option<Secret>,
    /// Whether to change the password of an existing role.
    pub set_password: bool,
}

/// Creates the role if it is missing. Its password is set in the same transaction, so that a failure never leaves a
/// role without password.
pub(crate) async fn make(conn: &mut PgConnection, login: &Login) -> Result<(), sqlx::Error> {
    let exists: bool = sqlx::query_scalar("select exists (select from pg_roles where rolname = $1)")
        .bind(&login.role)
        .fetch_one(&mut *conn)
        .await?;
    let verb = match (exists, &login.password) {
        (false, _) => "create role %1$I login noinherit",
        (true, Some(_)) if login.set_password => "alter role %1$I",
        (true, _) => return Ok(()),
    };
    let password = login.password.as_ref().map_or("", |_| " password %2$L");
    // The service never stays idle inside a transaction for long. A transaction idle for 10 seconds belongs to a lost
    // client.
    let limit = if exists { "" } else { "; alter role %1$I set idle_in_transaction_session_timeout = '10s'" };
    run(conn, &format!("{verb}{password}{limit}"), login).await
}

/// Grants the service's roles and access to the schemas to the login role, by name. A role with rights of its own is
/// left unchanged; the service refuses to start with it and reports why.
pub(crate) async fn admit(conn: &mut PgConnection, login: &Login) -> Result<(), sqlx::Error> {
    if !lacks_something(conn, login).await? {
        return Ok(());
    }
    let grants = "grant knowhow_tenant, knowhow_admin, knowhow_system, knowhow_queue to %1$I with inherit false, set true; \
                  grant usage on schema app, public to %1$I; \
                  grant connect on database %3$I to %1$I";
    run(conn, grants, login).await
}

/// Returns whether the role is missing or lacks a right that [`admit`] grants.
pub(crate) async fn lacks_something(conn: &mut PgConnection, login: &Login) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "select coalesce((
             select not (r.rolsuper or r.rolbypassrls or r.rolinherit or r.rolname = current_user
                         or pg_has_role(r.oid, 'knowhow_owner', 'member'))
                    and not (has_schema_privilege(r.oid, 'app', 'usage') and has_schema_privilege(r.oid, 'public', 'usage')
                             and has_database_privilege(r.oid, current_database(), 'connect')
                             and (select bool_and(pg_has_role(r.oid, w.oid, 'set')) from pg_roles w
                                  where w.rolname in ('knowhow_tenant', 'knowhow_admin', 'knowhow_system', 'knowhow_queue')))
             from pg_roles r where r.rolname = $1), true)",
    )
    .bind(&login.role)
    .fetch_one(conn)
    .await
}

/// Runs statements with the role's name as `%1$I`, its password as `%2$L` and the database's name as `%3$I`.
async fn run(conn: &mut PgConnection, template: &str, login: &Login) -> Result<(), sqlx::Error> {
    let statements: String = sqlx::query_scalar("select format($1, $2::text, $3::text, current_database())")
        .bind(template)
        .bind(&login.role)
        .bind(login.password.as_deref().unwrap_or_default())
        .fetch_one(&mut *conn)
        .await?;
    // The statements are sent as one message, so they are one transaction.
    conn.execute(AssertSqlSafe(statements)).await.map(drop)
}
