//! The door for hot reads: BEGIN with the context, one prepared statement and COMMIT, pipelined in one round trip.

use std::time::{Duration, Instant};

use deadpool_postgres::Object;
use futures_util::future::{join, try_join};
use knowhow_domain::{Error, Result};
use tokio::time::timeout;
use tokio_postgres::{Row, types::ToSql};

use crate::error::{refuse_pool, refuse_read};
use crate::tx::{DatabaseRole, begin_statement};
use crate::{Database, Principal};

/// How soon a read's side effect (a usage count) reaches the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Nothing is written, or it is flushed before the answer.
    Full,
    /// The commit does not wait for the disk. A crash of Postgres may lose the last second: for counts alone.
    Counts,
}

/// Parameters as tokio-postgres takes them.
pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Runs one statement as the principal's user and returns its rows.
pub(crate) async fn read(
    db: &Database,
    principal: &Principal,
    durability: Durability,
    sql: &'static str,
    params: Params<'_>,
) -> Result<Vec<Row>> {
    let limits = db.patience.limits(Instant::now());
    let mut begin = begin_statement(DatabaseRole::Tenant, principal.tenant(), principal.user()?, &limits);
    if durability == Durability::Counts {
        begin.push_str("; SET LOCAL synchronous_commit = off");
    }
    let lease = within(db.patience.acquire, Lease::take(db)).await?;
    // All of it is on the wire before the first answer. BEGIN waits for nothing, so it alone finds out a network that
    // swallows answers.
    let client = lease.client();
    let began = async { client.batch_execute(&begin).await.map_err(refuse_read) };
    let read = async { Ok(run(client, sql, params).await) };
    let ((), Ran { rows, is_over }) =
        try_join(within(db.patience.acquire, began), within(db.patience.answer(), read)).await?;
    if is_over {
        lease.give_back();
    }
    rows.map_err(refuse_read)
}

/// What became of a statement, and whether its transaction is over.
struct Ran {
    rows: Result<Vec<Row>, tokio_postgres::Error>,
    is_over: bool,
}

/// The statement and COMMIT. Where this connection has not prepared the statement yet, it does so behind BEGIN: the
/// transaction's limits hold for that too, and a locked table keeps it waiting no longer than any other statement. Where
/// BEGIN fails they run nevertheless, without context: the policies refuse them, so no row comes.
async fn run(client: &Object, sql: &'static str, params: Params<'_>) -> Ran {
    let statement = match client.prepare_cached(sql).await {
        Ok(statement) => statement,
        Err(error) => return Ran { rows: Err(error), is_over: false },
    };
    let (rows, committed) = join(client.query(&statement, params), client.batch_execute("COMMIT")).await;
    let is_over = committed.is_ok();
    Ran { rows: rows.and_then(|rows| committed.map(|()| rows)), is_over }
}

async fn within<T>(longest: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(longest, work).await.unwrap_or_else(|_| {
        tracing::warn!("the database has not answered a read in time");
        Err(Error::Unavailable("the database is out of reach; try again in a moment".into()))
    })
}

/// Reads every row alike.
pub(crate) fn rows_as<T>(
    rows: &[Row],
    mut read: impl FnMut(&Row) -> Result<T, tokio_postgres::Error>,
) -> Result<Vec<T>> {
    rows.iter().map(|row| read(row).map_err(refuse_read)).collect()
}

/// A connection that goes back to its pool only when its pipeline has run to the end: a request that was dropped half
/// way leaves answers on the wire that belong to nobody.
struct Lease(Option<Object>);

impl Lease {
    async fn take(db: &Database) -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the room where context is set")]
        let object = db.reads.get().await.map_err(refuse_pool)?;
        Ok(Self(Some(object)))
    }

    #[expect(clippy::expect_used, reason = "filled until give_back or drop, which consume self")]
    fn client(&self) -> &Object {
        self.0.as_ref().expect("a lease holds its connection")
    }

    fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            drop(Object::take(object));
        }
    }
}
