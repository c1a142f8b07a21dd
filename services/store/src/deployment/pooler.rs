//! Checks a pooler between the service and Postgres. In transaction mode it must support prepared statements
//! (PgBouncer 1.21 or newer, `max_prepared_statements`). Otherwise a client gets the rows of other statements, or no
//! answer.

use std::time::Duration;

use deadpool::managed::Object;
use knowhow_domain::Result;
use tokio::time::timeout;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

use crate::Database;
use crate::vault::connect::Pipelined;
use crate::vault::error::{refuse_pool, refuse_read};

/// A statement that no other client sends, with a unique answer.
const ASKED: &str = "-- pooler.inspect\nselect 'knowhow asks a pooler'::text, $1::integer + 1";

/// Number of attempts, because a pooler may happen to use the same server connection again.
const TRIES: i32 = 5;

/// Time limit for a second transaction. A pooler with a single connection cannot serve it.
const PATIENCE: Duration = Duration::from_secs(2);

const MIXES: &str = "the pooler in KNOWHOW_DATABASE_URL mixes up prepared statements: use PgBouncer 1.21 or newer with \
    max_prepared_statements above 0, or pool_mode = session, or connect to PostgreSQL itself";

/// Returns a description of the pooler's problem; `None` if it is suitable or there is no pooler.
///
/// # Errors
/// `Unavailable` if the database is unreachable.
#[expect(clippy::disallowed_methods, reason = "reads no rows, so it needs no context")]
pub(crate) async fn inspect(db: &Database) -> Result<Option<String>> {
    let asker = db.reads.pool.get().await.map_err(refuse_pool)?;
    let other = db.changes.pool.get().await.map_err(refuse_pool)?;
    for number in 0..TRIES {
        let before = ask(&asker, number).await?;
        // Occupies the server connection that was just released, so that the next statement runs on another server
        // connection.
        if timeout(PATIENCE, other.batch_execute("BEGIN")).await.is_err() {
            // BEGIN may still run later, so the connection is not reused.
            drop(Object::take(other));
            return Ok(None);
        }
        let beside = ask(&asker, number).await;
        other.batch_execute("ROLLBACK").await.map_err(refuse_read)?;
        match (before, beside?) {
            (PoolerAnswer::Nonsense, _) | (_, PoolerAnswer::Nonsense) => return Ok(Some(MIXES.into())),
            (PoolerAnswer::TheAnswer, PoolerAnswer::TheAnswer) => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Returns whether a pooler shares server connections among clients. If so, Postgres has fewer connections than its
/// clients.
///
/// # Errors
/// `Unavailable` if the database is unreachable.
#[expect(clippy::disallowed_methods, reason = "reads no rows, so it needs no context")]
pub async fn shares_connections(db: &Database) -> Result<bool> {
    let one = db.reads.pool.get().await.map_err(refuse_pool)?;
    let other = db.changes.pool.get().await.map_err(refuse_pool)?;
    for _ in 0..TRIES {
        // Two open connections have different server processes unless they go through a pooler.
        if find_server_process(&one).await? == find_server_process(&other).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the id of the server process. Uses a simple query, which needs no prepared statement.
async fn find_server_process(client: &Object<Pipelined>) -> Result<Option<String>> {
    let sql = "-- pooler.find_server_process\nselect pg_backend_pid()";
    let answer = client.simple_query(sql).await.map_err(refuse_read)?;
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

enum PoolerAnswer {
    TheAnswer,
    Nonsense,
    /// The pooler has no free connection.
    Nothing,
}

async fn ask(client: &Object<Pipelined>, number: i32) -> Result<PoolerAnswer> {
    let asked = async {
        let statement = client.prepare_cached(ASKED).await?;
        client.query_one(&statement, &[&number]).await
    };
    match timeout(PATIENCE, asked).await {
        Ok(Ok(row)) => {
            let is_ours = row.try_get::<_, String>(0).is_ok_and(|said| said == "knowhow asks a pooler")
                && row.try_get::<_, i32>(1).is_ok_and(|sum| sum == number + 1);
            Ok(if is_ours { PoolerAnswer::TheAnswer } else { PoolerAnswer::Nonsense })
        }
        // The prepared statement does not exist on this server connection, or another statement has its name.
        Ok(Err(error)) if is_about_statements(&error) => Ok(PoolerAnswer::Nonsense),
        Ok(Err(error)) => Err(refuse_read(error)),
        Err(_) => Ok(PoolerAnswer::Nothing),
    }
}

fn is_about_statements(error: &tokio_postgres::Error) -> bool {
    let mixed = [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT, SqlState::PROTOCOL_VIOLATION];
    error.code().is_some_and(|code| mixed.contains(code))
}
