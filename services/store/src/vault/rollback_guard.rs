//! A pooled connection with an open transaction, and a timeout for every wait for Postgres. Postgres cancels slow
//! statements itself. But if the network drops its answers, only a timeout in the client ends the wait.

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

use crate::vault::connect::{CheckedConnector, CheckedPool, Unreachable};

/// Extra time for an answer beyond the statement timeout. If Postgres cancels a statement, its error message arrives
/// within this time.
const GRACE: Duration = Duration::from_millis(500);

/// Time limits for a request's use of the database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Limit for acquiring a connection that answers.
    pub(crate) acquire: Duration,
    pub(crate) statement: Duration,
}

impl Patience {
    /// Divides the statement limit among `statements` that are sent together, so that together they take no longer
    /// than one statement may.
    pub(super) fn shared_by(self, statements: usize) -> Self {
        Self { statement: self.statement / u32::try_from(statements).unwrap_or(u32::MAX), ..self }
    }

    /// Returns the limit for the answer to one message.
    pub(crate) fn answer(self) -> Duration {
        self.statement + GRACE
    }

    /// Returns the limit for waiting for the user's concurrency permit: enough for the previous request to open a
    /// connection and run a statement.
    pub(super) fn for_turn(self) -> Duration {
        self.acquire + self.statement
    }

    /// Returns the remaining limit for a connection if the caller has waited since `since`.
    pub(super) fn for_connection(self, since: Instant) -> Duration {
        self.acquire.min(self.acquire.max(self.statement).saturating_sub(since.elapsed()))
    }

    /// Returns `SET LOCAL` statements with the limits for a transaction. The time already waited is subtracted from the
    /// lock timeout, so that waiting for permits and for locks takes no longer than one statement may.
    pub(crate) fn limits(self, since: Instant) -> String {
        let (whole, waited) = (self.statement, since.elapsed());
        let statement = format!("SET LOCAL statement_timeout = {}", whole.as_millis());
        // In the common case, the statement timeout is limit enough.
        if waited < whole / 10 {
            return statement;
        }
        let left = whole.saturating_sub(waited).max(whole / 10);
        format!("{statement}; SET LOCAL lock_timeout = {}", left.as_millis().max(1))
    }
}

/// A pool to take a connection from.
#[derive(Clone, Copy)]
pub(crate) struct LabelledPool<'a> {
    pub(crate) pool: &'a CheckedPool,
    /// Label of the pool in metrics.
    pub(crate) label: metrics::Pool,
}

/// A connection inside a transaction. If it is dropped without [`GuardedConnection::commit`], it is rolled back
/// before it returns to the pool, so that no request gets another request's open transaction.
pub(crate) struct GuardedConnection(ScopeGuard<Open, fn(Open)>);

struct Open {
    conn: Object<CheckedConnector>,
    answer: Duration,
}

impl Open {
    /// Rolls back, then returns the connection to the pool. A statement that a dropped request left running ends at
    /// its time limit at the latest. If the connection does not answer by then, it is closed. It is not closed
    /// earlier, because Postgres would continue the statement while a new connection starts another one.
    fn roll_back(mut self) {
        tokio::spawn(async move {
            match within(self.answer, self.conn.execute("rollback")).await {
                Ok(_) => drop(self.conn),
                Err(error) => {
                    tracing::warn!(%error, "closing a connection that did not roll back");
                    drop(Object::take(self.conn));
                }
            }
        });
    }
}

impl GuardedConnection {
    /// Begins a transaction by sending `begin`, for a caller that has waited since `since`. Waits while all connections
    /// are busy, and fails at once if no server listens.
    pub(crate) async fn begin(
        from: LabelledPool<'_>,
        patience: Patience,
        since: Instant,
        begin: impl Fn() -> String,
    ) -> Result<Self, sqlx::Error> {
        let begun = begin_on_pooled(from, patience.answer(), begin);
        // BEGIN never waits for a lock, so a connection that takes longer is dead.
        timeout(patience.for_connection(since), begun).await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    /// Returns the connection with a time limit for each statement.
    pub(crate) fn bounded(&mut self) -> Bounded<'_> {
        let answer = self.0.answer;
        Bounded { conn: &mut self.0.conn, answer }
    }

    /// Returns the plain connection, for the queue library, which accepts only this type. The caller must limit each
    /// call to [`GuardedConnection::answer`].
    pub(crate) fn unbounded(&mut self) -> &mut PgConnection {
        &mut self.0.conn
    }

    /// Returns the time limit for an answer.
    pub(crate) fn answer(&self) -> Duration {
        self.0.answer
    }

    pub(crate) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.bounded().execute("COMMIT").await?;
        // The transaction is over: a rollback would cost a round trip and log a warning in Postgres.
        drop(ScopeGuard::into_inner(self.0));
        Ok(())
    }
}

/// Begins a transaction on a pooled connection. The pool does not test idle connections, so after a restart of
/// Postgres some are dead. Each dead one is dropped and another one is tried. A retry is safe because no statement
/// was sent yet.
async fn begin_on_pooled(
    from: LabelledPool<'_>,
    answer: Duration,
    begin: impl Fn() -> String,
) -> Result<GuardedConnection, sqlx::Error> {
    let mut pooled = from.pool.status().size;
    loop {
        let waiting = metrics::waiting_for(from.label);
        #[expect(clippy::disallowed_methods, reason = "the message that begins sets the context")]
        let conn = from.pool.get().await;
        drop(waiting);
        let conn = conn.map_err(no_connection)?;
        let mut guarded = GuardedConnection(guard(Open { conn, answer }, Open::roll_back));
        match guarded.unbounded().execute(AssertSqlSafe(begin())).await {
            Err(error) if pooled > 0 && is_lost(&error) => {
                pooled -= 1;
                drop(Object::take(ScopeGuard::into_inner(guarded.0).conn));
            }
            Ok(_) => return Ok(guarded),
            Err(error) => return Err(error),
        }
    }
}

/// Converts the pool's error to the driver's error type.
fn no_connection(error: PoolError<Unreachable>) -> sqlx::Error {
    match error {
        PoolError::Backend(error) if error.is_passing() => sqlx::Error::Io(std::io::Error::other(error)),
        PoolError::Backend(error) => sqlx::Error::Configuration(error.into()),
        PoolError::Closed => sqlx::Error::PoolClosed,
        _ => sqlx::Error::PoolTimedOut,
    }
}

/// Returns whether the connection was lost. When a server shuts down, it sends an error on each connection
/// (PostgreSQL, appendix A: 57P01 to 57P05), which is read with the next statement. After a crash the connection is
/// just closed.
fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(said) => said.code().is_some_and(|code| code.starts_with("57P")),
        _ => false,
    }
}

/// Waits at most `answer`. A later answer is discarded. The connection is closed unless it becomes idle soon.
pub(crate) async fn within<T, E: From<sqlx::Error>>(
    answer: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    timeout(answer, work).await.unwrap_or_else(|_| Err(silent().into()))
}

fn silent() -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::new(ErrorKind::TimedOut, "the database did not answer in time"))
}

/// A connection with a time limit for each statement.
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
