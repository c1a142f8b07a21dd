//! Runs a statement in one round trip: BEGIN with the caller's context, the prepared statement and COMMIT are sent
//! before the first answer is awaited. A read may be sent before a write, in the same transaction.
//!
//! A write locks its rows only while the statement runs, so it needs no transaction permit of the user
//! ([`crate::vault::user_concurrency`]).

use std::time::{Duration, Instant};

use deadpool::managed::Object;
use futures_util::future::{join, join_all, try_join, try_join_all};
use knowhow_domain::{Error, Result};
use knowhow_telemetry::{metrics, trace};
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::pools::Pools;
use super::statement::{Durability, LookUp, Read, Statement, Write, name_of, read_rows};
use super::tx::{DatabaseRole, PLAN_ONCE, begin_statement};
use crate::vault::connect::Pipelined;
use crate::vault::connection_queue::Kind;
use crate::vault::error::{refuse_pool, refuse_read};
use crate::vault::request_context;
use crate::vault::user_concurrency::{TenantUser, permits_of_statement};
use crate::vault::warm_up::{self, WarmPool};
use crate::{Database, Principal};

/// Setting that makes Postgres reject writes in the transaction.
const READ_ONLY: &str = "; SET LOCAL transaction_read_only = on";

/// Runs a read as the principal's user. The transaction is read-only, so Postgres rejects a statement that writes.
pub(crate) async fn read<S: Read>(db: &Database, principal: &Principal, statement: S) -> Result<Vec<S::Row>> {
    let [rows] = run(db, principal, READ_ONLY, [BoundStatement::of(&statement)]).await?;
    read_rows::<S>(&rows)
}

/// Runs a write as the principal's user and commits it.
pub(crate) async fn write<S: Write>(db: &Database, principal: &Principal, statement: S) -> Result<Vec<S::Row>> {
    let [rows] = run(db, principal, durability::<S>(), [BoundStatement::of(&statement)]).await?;
    read_rows::<S>(&rows)
}

/// Runs a read and then a write in one transaction. If Postgres rejects either statement, the write is rolled back.
pub(crate) async fn read_and_write<R: Read, W: Write>(
    db: &Database,
    principal: &Principal,
    read: R,
    write: W,
) -> Result<(Vec<R::Row>, Vec<W::Row>)> {
    let [found, written] =
        run(db, principal, durability::<W>(), [BoundStatement::of(&read), BoundStatement::of(&write)]).await?;
    Ok((read_rows::<R>(&found)?, read_rows::<W>(&written)?))
}

/// Runs a read across tenants.
pub(crate) async fn look_up<S: LookUp>(db: &Database, statement: S) -> Result<Vec<S::Row>> {
    let since = Instant::now();
    let limits = db.patience.limits(since);
    let mut begin = format!("BEGIN; SET LOCAL ROLE {}; {limits}{PLAN_ONCE}{READ_ONLY}", DatabaseRole::System.name());
    request_context::append_to(&mut begin);
    let work = Work { since, begin, asked: [BoundStatement::of(&statement)] };
    let [rows] = carry_out(db, &db.quick_lookups, work).await?;
    read_rows::<S>(&rows)
}

/// Returns the setting for the write's durability.
fn durability<S: Write>() -> &'static str {
    match S::DURABILITY {
        Durability::Full => "",
        Durability::Counts => "; SET LOCAL synchronous_commit = off",
    }
}

/// A statement with its parameters from `$3` on.
struct BoundStatement<'a> {
    sql: &'static str,
    values: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> BoundStatement<'a> {
    fn of<S: Statement>(statement: &'a S) -> Self {
        Self { sql: S::SQL, values: statement.values() }
    }
}

/// Runs statements in one transaction, in order. The write must be last, because it locks rows. Logs use the name of
/// the last statement.
async fn run<const N: usize>(
    db: &Database,
    principal: &Principal,
    setting: &str,
    mut asked: [BoundStatement<'_>; N],
) -> Result<[Vec<Row>; N]> {
    let (since, at) = (Instant::now(), db.of(principal));
    let last = asked[N - 1].sql;
    let _span = trace::wait_for(name_of(last));
    let (tenant, user) = (principal.tenant(), principal.user()?);
    let places = permits_of_statement(at.queue.is_far());
    let _place =
        at.user_concurrency.statements.take_places(places, TenantUser { tenant, user }, at.patience.for_turn()).await?;
    let limits = at.patience.shared_by(N).limits(since);
    let begin = begin_statement(DatabaseRole::Tenant, tenant, user, &limits) + PLAN_ONCE + setting + db.fence();
    for BoundStatement { values, .. } in &mut asked {
        values.splice(0..0, [&tenant.0 as &(dyn ToSql + Sync), &user.0]);
    }
    let longest = at.patience.for_connection(since);
    let _turn = at.queue.enter(Kind::Reads, tenant, longest).await?;
    carry_out(at, &at.reads, Work { since, begin, asked }).await
}

/// A transaction to send.
struct Work<'a, const N: usize> {
    /// Time at which the request began to wait for the transaction.
    since: Instant,
    /// BEGIN with the whole context.
    begin: String,
    asked: [BoundStatement<'a>; N],
}

/// Sends a transaction on a connection from the pool.
async fn carry_out<const N: usize>(at: &Pools, connections: &WarmPool, work: Work<'_, N>) -> Result<[Vec<Row>; N]> {
    let Work { since, begin, asked } = work;
    let last = asked[N - 1].sql;
    // Opening a new connection gets its full time, regardless of how long the request has waited before.
    let longest = at.patience.acquire;
    let lease = within(last, longest, Lease::take(connections)).await?;
    // BEGIN never waits for a lock, so only its timeout detects a network that drops answers. If Postgres rejects
    // BEGIN, e.g. because the tenant is being moved, the remaining answers are still awaited, so that the connection
    // can be reused.
    let client = lease.client();
    let began = async { Ok(client.batch_execute(&begin).await) };
    let answered = async { Ok(send(client, &asked).await) };
    let (began, PipelineAnswers { rows, is_over }) =
        try_join(within(last, longest, began), within(last, at.patience.answer(), answered)).await?;
    if is_over {
        lease.give_back();
    }
    began.map_err(refuse_read)?;
    let micros = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
    tracing::debug!(statement = name_of(last), elapsed_us = micros, "answered");
    rows.map_err(refuse_read)?.try_into().map_err(|_| Error::internal("rows of each statement"))
}

/// The rows of each statement, and whether the transaction is over.
struct PipelineAnswers {
    rows: Result<Vec<Vec<Row>>, tokio_postgres::Error>,
    is_over: bool,
}

/// Sends the statements and COMMIT. A statement new to this connection is prepared after BEGIN, so that the
/// transaction's time limits apply to a wait for a locked table. If BEGIN fails, the statements run without context.
/// The row policies then hide all rows.
async fn send(client: &Object<Pipelined>, asked: &[BoundStatement<'_>]) -> PipelineAnswers {
    let prepared = try_join_all(asked.iter().map(|one| client.prepare_cached(one.sql))).await;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let is_over = client.batch_execute("COMMIT").await.is_ok();
            return PipelineAnswers { rows: Err(error), is_over };
        }
    };
    let queries = asked.iter().zip(&prepared).map(|(one, statement)| client.query(statement, &one.values));
    let (rows, committed) = join(join_all(queries), client.batch_execute("COMMIT")).await;
    let is_over = committed.is_ok();
    let rows = rows.into_iter().collect::<Result<Vec<_>, _>>();
    PipelineAnswers { rows: rows.and_then(|rows| committed.map(|()| rows)), is_over }
}

async fn within<T>(sql: &'static str, longest: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(longest, work).await.unwrap_or_else(|_| {
        tracing::warn!(statement = name_of(sql), "the database did not answer in time");
        Err(Error::Unavailable("the database is unreachable; try again in a moment".into()))
    })
}

/// A connection that returns to its pool only after all answers were read. If its request is dropped, answers are
/// unread and the connection is closed.
pub(super) struct Lease {
    object: Option<Object<Pipelined>>,
    often: &'static [&'static str],
}

impl Lease {
    pub(super) async fn take(connections: &WarmPool) -> Result<Self> {
        let waiting = metrics::waiting_for(connections.label);
        #[expect(clippy::disallowed_methods, reason = "the room where context is set")]
        let object = connections.pool.get().await;
        drop(waiting);
        Ok(Self { object: Some(object.map_err(refuse_pool)?), often: connections.frequent })
    }

    #[expect(clippy::expect_used, reason = "filled until give_back or drop, which consume self")]
    pub(super) fn client(&self) -> &Object<Pipelined> {
        self.object.as_ref().expect("a lease holds its connection")
    }

    pub(super) fn give_back(mut self) {
        if let Some(object) = self.object.take() {
            warm_up::give_back(object, self.often);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            drop(Object::take(object));
        }
    }
}
