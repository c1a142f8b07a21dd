//! Finds problems that would stop the migrations, before the first one runs: an unsuitable server or role. Returns
//! missing privileges as statements that a superuser must run once.

use sqlx::{Executor, FromRow, PgConnection};

use crate::vault::login::{self, Login};

/// The roles of the service, without its login.
const ROLES: [&str; 5] = ["knowhow_owner", "knowhow_tenant", "knowhow_admin", "knowhow_system", "knowhow_queue"];

/// The default login role. The first migration always creates it.
const LOGIN: &str = "knowhow_login";

const NO_PGVECTOR: &str = "the server has no pgvector: install it there (on Debian and Ubuntu the package \
    postgresql-18-pgvector, for PostgreSQL 18)";

/// The first version with separate INHERIT and SET options of grants (PostgreSQL 16).
const OLDEST: i32 = 160_000;

/// Returns the reason why the migrations cannot run, with instructions; `None` if they can. Creates the extension if
/// it is missing.
pub(crate) async fn obstacle(conn: &mut PgConnection, login: Option<&Login>) -> Result<Option<String>, sqlx::Error> {
    let state: ServerState = sqlx::query_as(
        "select current_setting('server_version_num')::int as version, current_setting('server_version') as shown,
                current_user::text as me, current_database()::text as database,
                current_setting('transaction_read_only')::bool as is_read_only, to_regnamespace('public') is not null as has_public",
    )
    .fetch_one(&mut *conn)
    .await?;
    if let Some(obstacle) = state.obstacle(login) {
        return Ok(Some(obstacle));
    }
    let ServerState { me, database, .. } = state;
    let mut statements = Vec::new();
    // The statement is tried instead of checking the role, because hosted servers allow it to some roles that are no
    // superusers.
    if let Err(error) = conn.execute("create extension if not exists vector").await {
        match code(&error).as_deref() {
            Some("42501") => statements.push("create extension vector;".to_owned()),
            // The extension is not available: PostgreSQL 16 and newer report 0A000, some builds 58P01.
            Some("0A000" | "58P01") => return Ok(Some(NO_PGVECTOR.to_owned())),
            _ => return Err(error),
        }
    }
    if let Some(obstacle) = unfit_pgvector(conn).await? {
        return Ok(Some(obstacle));
    }
    // Checks the table of migrations and the schema. The table exists before the first migration has run, and stays
    // if that migration was interrupted.
    let is_new: bool =
        sqlx::query_scalar("select to_regclass('public._sqlx_migrations') is null or to_regnamespace('app') is null")
            .fetch_one(&mut *conn)
            .await?;
    match is_new {
        true => statements.extend(powers_to_make(conn, login).await?),
        false => statements.extend(powers_to_change(conn).await?),
    }
    // A later run may be configured with another login role.
    if !is_new
        && let Some(login) = login
        && login::lacks_something(conn, login).await?
    {
        statements.extend(powers_to_make(conn, Some(login)).await?);
    }
    let message = format!(
        "the role '{me}' lacks privileges for the migrations; in the database '{database}', as a superuser run: {}",
        statements.join(" ")
    );
    Ok((!statements.is_empty()).then_some(message))
}

/// State of the server and the session before the migrations.
#[derive(FromRow)]
struct ServerState {
    version: i32,
    shown: String,
    me: String,
    database: String,
    is_read_only: bool,
    has_public: bool,
}

impl ServerState {
    fn obstacle(&self, login: Option<&Login>) -> Option<String> {
        let Self { shown, me, .. } = self;
        if self.version < OLDEST {
            return Some(format!("PostgreSQL 16 or newer is needed; this is {shown}"));
        }
        if self.is_read_only {
            return Some(
                "the session is read-only: DATABASE_URL must lead to the primary, not to a standby".to_owned(),
            );
        }
        if !self.has_public {
            return Some(format!(
                "the database has no schema public; run as a superuser: create schema public authorization \"{me}\";"
            ));
        }
        if ROLES.contains(&me.as_str()) || me == LOGIN {
            return Some(format!(
                "the role '{me}' cannot run the migrations, because they create a role of that name for the service: let a role with \
                 another name own the database and run them, e.g. knowhow_migrator (DATABASE_URL)"
            ));
        }
        login.filter(|login| login.role == *me).map(|_| {
            format!(
                "the role '{me}' of DATABASE_URL is also the login role of KNOWHOW_DATABASE_URL, and the service refuses a \
                 role that owns its tables: use another role there, e.g. {LOGIN}, which knowhow migrate creates"
            )
        })
    }
}

/// Returns the reason why the database's pgvector cannot be used, if there is one.
async fn unfit_pgvector(conn: &mut PgConnection) -> Result<Option<String>, sqlx::Error> {
    let installed: Option<(String, bool, String, String)> = sqlx::query_as(
        "select e.extversion, string_to_array(substring(e.extversion from '^\\d+\\.\\d+'), '.')::int[] < array[0, 7], n.nspname::text, e.extowner::regrole::text
         from pg_extension e join pg_namespace n on n.oid = e.extnamespace
         where e.extname = 'vector'",
    )
    .fetch_optional(conn)
    .await?;
    Ok(installed.and_then(|(version, is_old, schema, owner)| match schema.as_str() {
        _ if is_old => Some(format!(
            "pgvector 0.7 or newer is needed; the database has {version}: install a newer one on the server, and then run as \
             {owner}: alter extension vector update;"
        )),
        "public" => None,
        other => Some(format!(
            "the extension vector is in the schema {other}, but the migrations expect it in public; run as {owner}: \
             alter extension vector set schema public;"
        )),
    }))
}

fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(|message| message.code()).map(String::from)
}

/// Returns statements that grant the rights for a new database: to create the roles, or to administer roles that
/// exist for another database of the server, and to own the database.
async fn powers_to_make(conn: &mut PgConnection, login: Option<&Login>) -> Result<Vec<String>, sqlx::Error> {
    let mut roles: Vec<&str> = ROLES.to_vec();
    roles.push(LOGIN);
    roles.extend(login.filter(|login| login.role != LOGIN).map(|login| login.role.as_str()));
    sqlx::query_scalar(
        "with me as (select oid, rolname, rolcreaterole from pg_roles where rolname = current_user and not rolsuper),
              known as (select r.rolname, pg_has_role(me.oid, r.oid, 'member with admin option') as is_mine
                        from pg_roles r, me where r.rolname = any ($1) and r.rolname <> me.rolname)
         select format('alter role %I createrole;', me.rolname) from me where not me.rolcreaterole
         union all
         select format('grant %s to %I with admin option;', string_agg(quote_ident(known.rolname), ', '), me.rolname)
         from known, me where not known.is_mine group by me.rolname
         union all
         select format('alter database %I owner to %I;', d.datname, me.rolname) from pg_database d, me
         where d.datname = current_database() and not pg_has_role(me.oid, d.datdba, 'usage')
         union all
         select format('alter schema public owner to %I;', me.rolname) from pg_namespace n, me
         where n.nspname = 'public' and not pg_has_role(me.oid, n.nspowner, 'usage')
           -- In a new database the schema belongs to the owner of the database.
           and n.nspowner <> 'pg_database_owner'::regrole",
    )
    .bind(&roles)
    .fetch_all(conn)
    .await
}

/// Returns statements that grant the rights for a later release: membership in the role that owns the existing
/// objects.
async fn powers_to_change(conn: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "select format('grant knowhow_owner to %I;', r.rolname) from pg_roles r
         where r.rolname = current_user and not r.rolsuper
           and not coalesce(pg_has_role(r.oid, to_regrole('knowhow_owner'), 'set'), false)
         union all
         select format('alter table _sqlx_migrations owner to %I;', r.rolname) from pg_roles r, pg_class c
         where r.rolname = current_user and not r.rolsuper and c.oid = 'public._sqlx_migrations'::regclass
           and not pg_has_role(r.oid, c.relowner, 'usage')",
    )
    .fetch_all(conn)
    .await
}
