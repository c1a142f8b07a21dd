//! Whether what stands between the service and Postgres is fit for it. A pooler that gives the server connection of one
//! transaction to the next caller must carry prepared statements along (PgBouncer from 1.21 on, `max_prepared_statements`).
//! One that does not answers with the rows of another statement, or not at all.

use std::time::Duration;

use deadpool::managed::Object;
use knowhow_domain::Result;
use tokio::time::timeout;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

use crate::Database;
use crate::connect::Pipelined;
use crate::error::{refuse_pool, refuse_read};

/// A statement that is told from the answers to others.
const ASKED: &str = "-- pooler.inspect\nselect 'knowhow asks a pooler'::text, $1::integer + 1";

/// Tries: a pooler may give the same server connection again by chance.
const TRIES: i32 = 5;

/// A pooler with a single connection has none for us while another transaction holds it.
const PATIENCE: Duration = Duration::from_secs(2);

const MIXES: &str = "the pooler in KNOWHOW_DATABASE_URL mixes up prepared statements: use PgBouncer 1.21 or newer with \
    max_prepared_statements above 0, or pool_mode = session, or connect to PostgreSQL itself";

/// What is wrong with the pooler, in a sentence; `None` where it is fit, or there is none.
///
/// # Errors
/// `Unavailable` where the database is out of reach.
#[expect(clippy::disallowed_methods, reason = "asks for no rows of anybody, so it needs no context")]
pub(crate) async fn inspect(db: &Database) -> Result<Option<String>> {
    let asker = db.reads.pool.get().await.map_err(refuse_pool)?;
    let other = db.changes.pool.get().await.map_err(refuse_pool)?;
    for number in 0..TRIES {
        let before = ask(&asker, number).await?;
        // Holds the server connection that has just become free, so that the next question goes to another one.
        if timeout(PATIENCE, other.batch_execute("BEGIN")).await.is_err() {
            // It may begin yet: nobody is given that connection.
            drop(Object::take(other));
            return Ok(None);
        }
        let beside = ask(&asker, number).await;
        other.batch_execute("ROLLBACK").await.map_err(refuse_read)?;
        match (before, beside?) {
            (Said::Nonsense, _) | (_, Said::Nonsense) => return Ok(Some(MIXES.into())),
            (Said::TheAnswer, Said::TheAnswer) => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Whether a pooler gives one server connection to several callers in turn, so that Postgres sees fewer connections than there are.
///
/// # Errors
/// `Unavailable` where the database is out of reach.
#[expect(clippy::disallowed_methods, reason = "asks for no rows of anybody, so it needs no context")]
pub async fn shares_connections(db: &Database) -> Result<bool> {
    let one = db.reads.pool.get().await.map_err(refuse_pool)?;
    let other = db.changes.pool.get().await.map_err(refuse_pool)?;
    for _ in 0..TRIES {
        // Two connections that are open at once have two server processes, unless somebody stands in between.
        if find_server_process(&one).await? == find_server_process(&other).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// In the simple form, which needs no prepared statement of a pooler.
async fn find_server_process(client: &Object<Pipelined>) -> Result<Option<String>> {
    let sql = "-- pooler.find_server_process\nselect pg_backend_pid()";
    let answer = client.simple_query(sql).await.map_err(refuse_read)?;
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

enum Said {
    TheAnswer,
    Nonsense,
    /// The pooler has no connection for us.
    Nothing,
}

async fn ask(client: &Object<Pipelined>, number: i32) -> Result<Said> {
    let asked = async {
        let statement = client.prepare_cached(ASKED).await?;
        client.query_one(&statement, &[&number]).await
    };
    match timeout(PATIENCE, asked).await {
        Ok(Ok(row)) => {
            let is_ours = row.try_get::<_, String>(0).is_ok_and(|said| said == "knowhow asks a pooler")
                && row.try_get::<_, i32>(1).is_ok_and(|sum| sum == number + 1);
            Ok(if is_ours { Said::TheAnswer } else { Said::Nonsense })
        }
        // The statement is unknown there, or another one has its name.
        Ok(Err(error)) if is_about_statements(&error) => Ok(Said::Nonsense),
        Ok(Err(error)) => Err(refuse_read(error)),
        Err(_) => Ok(Said::Nothing),
    }
}

fn is_about_statements(error: &tokio_postgres::Error) -> bool {
    let mixed = [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT, SqlState::PROTOCOL_VIOLATION];
    error.code().is_some_and(|code| mixed.contains(code))
}
