//! A connection of the pool with a transaction open on it, and an end to every wait for Postgres. Postgres itself ends
//! statements that take too long, but only while its answers arrive: where the network swallows them, nothing but a clock
//! on this side does.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use deadpool::managed::{Object, PoolError};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use knowhow_telemetry::metrics;
use scopeguard::{ScopeGuard, guard};
use sqlx::postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{AssertSqlSafe, Describe, Either, Execute, Executor, PgConnection, Postgres, SqlStr};
use tokio::time::{timeout, timeout_at};

use crate::connect::{Checked, CheckedPool, Unreachable};

/// How much longer than the longest statement an answer may take. Postgres says why it ended a statement; that is worth
/// waiting for.
const GRACE: Duration = Duration::from_millis(500);

/// The longest waits of a request for the database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For a connection that answers.
    pub(crate) acquire: Duration,
    pub(crate) statement: Duration,
}

impl Patience {
    /// Of each of so many statements that are sent together: all of them take no longer than one may.
    pub(super) fn shared_by(self, statements: usize) -> Self {
        Self { statement: self.statement / u32::try_from(statements).unwrap_or(u32::MAX), ..self }
    }

    /// For the answer to one message.
    pub(crate) fn answer(self) -> Duration {
        self.statement + GRACE
    }

    /// For the turn of a user: as long as the request before may take to open a connection and to run a statement.
    pub(super) fn for_turn(self) -> Duration {
        self.acquire + self.statement
    }

    /// For a connection, where somebody has stood in line since then.
    pub(super) fn for_connection(self, since: Instant) -> Duration {
        self.acquire.min(self.acquire.max(self.statement).saturating_sub(since.elapsed()))
    }

    /// The limits of a transaction of somebody who has stood in line since then, as statements. Waiting for locks goes on
    /// where waiting in line ended, so that both together take no longer than one statement may.
    pub(crate) fn limits(self, since: Instant) -> String {
        let (whole, waited) = (self.statement, since.elapsed());
        let statement = format!("SET LOCAL statement_timeout = {}", whole.as_millis());
        // Nearly everybody: the limit of the statement is limit enough.
        if waited < whole / 10 {
            return statement;
        }
        let left = whole.saturating_sub(waited).max(whole / 10);
        format!("{statement}; SET LOCAL lock_timeout = {}", left.as_millis().max(1))
    }
}

/// Where a connection is taken from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) pool: &'a CheckedPool,
    /// The pool's name among the metrics.
    pub(crate) label: metrics::Pool,
}

/// A connection inside a transaction. Dropped without [`Held::commit`], it is rolled back and then given back to the pool, so that no
/// request gets another one's open transaction.
pub(crate) struct Held(ScopeGuard<Open, fn(Open)>);

struct Open {
    conn: Object<Checked>,
    answer: Duration,
}

impl Open {
    /// Gives the connection back once nothing is open on it. One that a dropped request left at work answers once its statement has
    /// ended, at the latest by its limit; one that does not answer by then is closed. It is not closed sooner: Postgres would go on
    /// with the statement, and a new connection would begin another one.
    fn roll_back(mut self) {
        tokio::spawn(async move {
            match within(self.answer, self.conn.execute("rollback")).await {
                Ok(_) => drop(self.conn),
                Err(error) => {
                    tracing::warn!(%error, "a connection that does not roll back is closed");
                    drop(Object::take(self.conn));
                }
            }
        });
    }
}

impl Held {
    /// Begins a transaction on a live connection, by sending `begin`, for a caller that waits since `since`. While all
    /// connections are busy, the pool waits. If no server listens, it fails at once.
    pub(crate) async fn begin(
        from: Source<'_>,
        patience: Patience,
        since: Instant,
        begin: impl Fn() -> String,
    ) -> Result<Self, sqlx::Error> {
        let begun = begin_on_kept(from, patience.answer(), begin);
        // Nothing of it waits for a lock, so a connection on which it takes longer is a dead one.
        timeout(patience.for_connection(since), begun).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// What statements run on.
    pub(crate) fn bounded(&mut self) -> Bounded<'_> {
        let answer = self.0.answer;
        Bounded { conn: &mut self.0.conn, answer }
    }

    /// The same for the library of the queue, which knows no other type: its user bounds each call with
    /// [`Held::answer`].
    pub(crate) fn unbounded(&mut self) -> &mut PgConnection {
        &mut self.0.conn
    }

    /// For how long an answer is awaited.
    pub(crate) fn answer(&self) -> Duration {
        self.0.answer
    }

    pub(crate) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.bounded().execute("COMMIT").await?;
        // Nothing is open any more: to roll back would cost a round trip, and a warning in the log of Postgres.
        drop(ScopeGuard::into_inner(self.0));
        Ok(())
    }
}

/// The pool does not test the connections that it has kept, so after a restart of Postgres some are dead: each is found
/// out, dropped, and costs another try. Nothing was asked of it yet, so nothing is done twice.
async fn begin_on_kept(from: Source<'_>, answer: Duration, begin: impl Fn() -> String) -> Result<Held, sqlx::Error> {
    let mut kept = from.pool.status().size;
    loop {
        let waiting = metrics::waiting_for(from.label);
        #[expect(clippy::disallowed_methods, reason = "the message that begins sets the context")]
        let conn = from.pool.get().await;
        drop(waiting);
        let conn = conn.map_err(no_connection)?;
        let mut held = Held(guard(Open { conn, answer }, Open::roll_back));
        match held.unbounded().execute(AssertSqlSafe(begin())).await {
            Err(error) if kept > 0 && is_lost(&error) => {
                kept -= 1;
                drop(Object::take(ScopeGuard::into_inner(held.0).conn));
            }
            Ok(_) => return Ok(held),
            Err(error) => return Err(error),
        }
    }
}

/// Turns the reason why the pool has no connection into an error of the driver.
fn no_connection(error: PoolError<Unreachable>) -> sqlx::Error {
    match error {
        PoolError::Backend(error) if error.is_passing() => sqlx::Error::Io(std::io::Error::other(error)),
        PoolError::Backend(error) => sqlx::Error::Configuration(error.into()),
        PoolError::Closed => sqlx::Error::PoolClosed,
        _ => sqlx::Error::PoolTimedOut,
    }
}

/// A server that goes down says so on the connections it closes (PostgreSQL, appendix A: 57P01 to 57P05), which is read at
/// the next statement; after a crash there is nothing to read.
fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(said) => said.code().is_some_and(|code| code.starts_with("57P")),
        _ => false,
    }
}

/// Waits at most this long for an answer. Nobody takes a later one: the connection is closed unless it answers soon.
pub(crate) async fn within<T, E: From<sqlx::Error>>(
    answer: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    timeout(answer, work).await.unwrap_or_else(|_| Err(silent().into()))
}

fn silent() -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::new(ErrorKind::TimedOut, "the database has not answered in time"))
}

/// A connection each of whose statements has an end.
#[derive(Debug)]
pub(crate) struct Bounded<'c> {
    conn: &'c mut PgConnection,
    answer: Duration,
}

impl<'c> Executor<'c> for Bounded<'c> {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let deadline = tokio::time::Instant::now() + self.answer;
        let rows = Some(self.conn.fetch_many(query));
        let bounded = stream::unfold(rows, move |rows| async move {
            let mut rows = rows?;
            match timeout_at(deadline, rows.next()).await {
                Ok(next) => next.map(|row| (row, Some(rows))),
                Err(_) => Some((Err(silent()), None)),
            }
        });
        bounded.boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        Box::pin(within(self.answer, self.conn.fetch_optional(query)))
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, sqlx::Error>>
    where
        'c: 'e,
    {
        Box::pin(within(self.answer, self.conn.prepare_with(sql, parameters)))
    }
    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, sqlx::Error>>
    where
        'c: 'e,
    {
        Box::pin(within(self.answer, self.conn.describe(sql)))
    }
}
