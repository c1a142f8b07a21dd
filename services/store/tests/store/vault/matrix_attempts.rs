//! Attempts of the isolation matrix: a verb on a row, as SQL.

use sqlx::{AssertSqlSafe, Executor, PgConnection};
use uuid::Uuid;

use super::matrix::{Cast, Cell, Context, Frame, Outcome, Role, Table, Verb};
use crate::rows::{self, Owner};

/// An attempt on a table.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) table: &'a Table,
    /// Column to update, chosen by [`Rights`].
    pub(super) column: &'a str,
    pub(super) cell: Cell,
}

pub(super) async fn run(conn: &mut PgConnection, frame: Frame, cast: &Cast, attempt: Attempt<'_>) -> Outcome {
    let cell = attempt.cell;
    let (open, close) = match frame {
        Frame::Transaction => ("begin", "rollback"),
        Frame::Savepoint => ("savepoint cell", "rollback to cell"),
    };
    let context = settings(cell.context, cast);
    let begin = format!("{open}; set local role {}{context}", cell.role.name());
    conn.execute(AssertSqlSafe(begin)).await.unwrap();
    let outcome = make(conn, cast, attempt).await;
    conn.execute(close).await.unwrap();
    outcome
}

/// Returns the settings that the service sends with `begin`.
fn settings(context: Context, cast: &Cast) -> String {
    let tenant = format!("; set local app.tenant_id = '{}'", cast.own.tenant);
    let user = |id: Uuid| format!("; set local app.user_id = '{id}'");
    match context {
        Context::Own => tenant + &user(cast.own.user),
        Context::TenantWide => tenant + &user(Uuid::nil()),
        Context::NoUser => tenant,
        Context::NoTenant => user(cast.own.user),
        Context::Nothing => String::new(),
        Context::RollingUp => {
            format!("; set local app.tenant_id = '{}'; set local app.rolls_up = 'on'", Uuid::nil())
        }
        Context::Erasing => format!("{tenant}; set local app.erased_user = '{}'", cast.own.user),
    }
}

pub(super) async fn make(conn: &mut PgConnection, cast: &Cast, attempt: Attempt<'_>) -> Outcome {
    let Attempt { table, column, cell } = attempt;
    let (name, target) = (&table.name, cast.owner(cell.target));
    let owned = |owner: Owner| {
        let user = if table.of_users { format!(" and user_id = '{}'", owner.user) } else { String::new() };
        format!("tenant_id = '{}'{user}", owner.tenant)
    };
    let sql = match cell.verb {
        Verb::Select => format!("select tenant_id from {name} where {}", owned(target)),
        Verb::Insert => rows::insert(name, target).unwrap(),
        Verb::Update => format!("update {name} set {column} = {column} where {}", owned(target)),
        Verb::Delete => format!("delete from {name} where {}", owned(target)),
        Verb::GiveAway => {
            let new = owned(target).replace(" and ", ", ");
            format!("update {name} set {new} where {}", owned(cast.own))
        }
        Verb::SelectAll => return select_all(conn, cast, table, cell).await,
    };
    outcome(conn.execute(AssertSqlSafe(sql)).await.map(|done| done.rows_affected()))
}

/// Selects without naming an owner. All returned rows must be within the caller's reach.
async fn select_all(conn: &mut PgConnection, cast: &Cast, table: &Table, cell: Cell) -> Outcome {
    if cell.role == Role::System || cell.context == Context::RollingUp {
        let count = sqlx::query_scalar::<_, i64>(AssertSqlSafe(format!("select count(*) from {}", table.name)));
        return outcome(count.fetch_one(conn).await.map(i64::unsigned_abs));
    }
    let user = if table.of_users { "user_id" } else { "null::uuid" };
    let sql = format!("select tenant_id, {user} from {}", table.name);
    let seen = match sqlx::query_as::<_, (Uuid, Option<Uuid>)>(AssertSqlSafe(sql)).fetch_all(conn).await {
        Ok(seen) => seen,
        Err(error) => return outcome(Err(error)),
    };
    let own = cast.own;
    let reach = |tenant: Uuid, user: Option<Uuid>| {
        let is_wide = matches!(cell.role, Role::Admin | Role::Owner);
        tenant == own.tenant && (is_wide || user.is_none_or(|user| user == own.user))
    };
    match seen.iter().find(|(tenant, user)| !reach(*tenant, *user)) {
        Some((tenant, user)) => Outcome::Else(format!("sees a row of {tenant} {user:?}")),
        None => Outcome::Rows(seen.len() as u64),
    }
}

pub(super) fn outcome(result: Result<u64, sqlx::Error>) -> Outcome {
    let error = match result {
        Ok(rows) => return Outcome::Rows(rows),
        Err(error) => error,
    };
    let Some(refusal) = error.as_database_error() else { return Outcome::Else(error.to_string()) };
    let (code, message) = (refusal.code().unwrap_or_default(), refusal.message());
    match &*code {
        "42501" if message == "no tenant context" => Outcome::NoContext,
        "42501" if message.starts_with("new row violates row-level security policy") => Outcome::RefusedByPolicy,
        "42501" if message.starts_with("permission denied") => Outcome::NoGrant,
        "23505" | "23503" => Outcome::Constraint,
        _ => Outcome::Else(format!("{code} {message}")),
    }
}
