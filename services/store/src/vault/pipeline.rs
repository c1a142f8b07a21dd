//! One statement in one round trip: BEGIN with the caller's context, the prepared statement and COMMIT are on the wire
//! before the first answer. A write may have a statement before it that reads.
//!
//! A write here locks its rows no longer than the statement runs, so it takes no place in the user's line
//! ([`super::line`]).

use std::time::{Duration, Instant};

use deadpool::managed::Object;
use futures_util::future::{join, join_all, try_join, try_join_all};
use knowhow_domain::{Error, Result};
use knowhow_telemetry::{metrics, trace};
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::ahead::{self, Connections};
use super::line;
use super::pools::Pools;
use super::room::Kind;
use super::statement::{Durability, LookUp, Read, Statement, Write, name_of, read_rows};
use super::tx::{DatabaseRole, PLAN_ONCE, begin_statement};
use crate::connect::Pipelined;
use crate::error::{refuse_pool, refuse_read};
use crate::{Database, Principal, trail};

/// Postgres itself keeps such a transaction from writing.
const READ_ONLY: &str = "; SET LOCAL transaction_read_only = on";

/// Runs a statement that changes nothing as the principal's user. Its transaction is read only: Postgres refuses it
/// where it changes something after all.
pub(crate) async fn read<S: Read>(db: &Database, principal: &Principal, statement: S) -> Result<Vec<S::Row>> {
    let [rows] = run(db, principal, READ_ONLY, [Asked::of(&statement)]).await?;
    read_rows::<S>(&rows)
}

/// Runs a statement that changes something as the principal's user, and makes that durable.
pub(crate) async fn write<S: Write>(db: &Database, principal: &Principal, statement: S) -> Result<Vec<S::Row>> {
    let [rows] = run(db, principal, durability::<S>(), [Asked::of(&statement)]).await?;
    read_rows::<S>(&rows)
}

/// Runs a statement that reads, and behind it one that changes something, in one transaction. Nothing is changed where Postgres
/// refuses either.
pub(crate) async fn read_and_write<R: Read, W: Write>(
    db: &Database,
    principal: &Principal,
    read: R,
    write: W,
) -> Result<(Vec<R::Row>, Vec<W::Row>)> {
    let [found, written] = run(db, principal, durability::<W>(), [Asked::of(&read), Asked::of(&write)]).await?;
    Ok((read_rows::<R>(&found)?, read_rows::<W>(&written)?))
}

/// Runs a statement across tenants that changes nothing.
pub(crate) async fn look_up<S: LookUp>(db: &Database, statement: S) -> Result<Vec<S::Row>> {
    let since = Instant::now();
    let limits = db.patience.limits(since);
    let mut begin = format!("BEGIN; SET LOCAL ROLE {}; {limits}{PLAN_ONCE}{READ_ONLY}", DatabaseRole::System.name());
    trail::append_to(&mut begin);
    let work = Work { since, begin, asked: [Asked::of(&statement)] };
    let [rows] = carry_out(db, &db.quick_lookups, work).await?;
    read_rows::<S>(&rows)
}

/// How a transaction is begun that makes this write as durable as it is to be.
fn durability<S: Write>() -> &'static str {
    match S::DURABILITY {
        Durability::Full => "",
        Durability::Counts => "; SET LOCAL synchronous_commit = off",
    }
}

/// A statement with its parameters from `$3` on.
struct Asked<'a> {
    sql: &'static str,
    values: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> Asked<'a> {
    fn of<S: Statement>(statement: &'a S) -> Self {
        Self { sql: S::SQL, values: statement.values() }
    }
}

/// Runs statements in one transaction, in their order: a write comes last, as it locks rows. Logs tell of them by the name of the
/// last.
async fn run<const N: usize>(
    db: &Database,
    principal: &Principal,
    setting: &str,
    mut asked: [Asked<'_>; N],
) -> Result<[Vec<Row>; N]> {
    let (since, at) = (Instant::now(), db.of(principal));
    let last = asked[N - 1].sql;
    let _span = trace::wait_for(name_of(last));
    let (tenant, user) = (principal.tenant(), principal.user()?);
    let places = line::places_of_a_statement(at.room.is_far());
    let _place = line::STATEMENTS.take_places(places, (tenant, user), at.patience.for_turn()).await?;
    let limits = at.patience.shared_by(N).limits(since);
    let begin = begin_statement(DatabaseRole::Tenant, tenant, user, &limits) + PLAN_ONCE + setting + db.fence();
    for Asked { values, .. } in &mut asked {
        values.splice(0..0, [&tenant.0 as &(dyn ToSql + Sync), &user.0]);
    }
    let longest = at.patience.for_connection(since);
    let _turn = at.room.enter(Kind::Reads, tenant, longest).await?;
    carry_out(at, &at.reads, Work { since, begin, asked }).await
}

/// A transaction to be sent.
struct Work<'a, const N: usize> {
    /// When the request began to wait for it.
    since: Instant,
    /// BEGIN with the whole context.
    begin: String,
    asked: [Asked<'a>; N],
}

/// Sends a transaction on one of these connections.
async fn carry_out<const N: usize>(at: &Pools, connections: &Connections, work: Work<'_, N>) -> Result<[Vec<Row>; N]> {
    let Work { since, begin, asked } = work;
    let last = asked[N - 1].sql;
    // Whatever the request has waited for before, a new connection has the time that opening one takes.
    let longest = at.patience.acquire;
    let lease = within(last, longest, Lease::take(connections)).await?;
    // BEGIN waits for nothing, so it alone finds out a network that swallows answers. Where Postgres refuses it, as that of a tenant
    // that is being moved, the other answers are awaited too, and the connection is used again.
    let client = lease.client();
    let began = async { Ok(client.batch_execute(&begin).await) };
    let answered = async { Ok(send(client, &asked).await) };
    let (began, Answered { rows, is_over }) =
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
struct Answered {
    rows: Result<Vec<Vec<Row>>, tokio_postgres::Error>,
    is_over: bool,
}

/// The statements and COMMIT. Where this connection has not prepared a statement yet, it does so behind BEGIN: the
/// transaction's limits hold for that too, and a locked table keeps it waiting no longer than any other statement. Where
/// BEGIN fails they run nevertheless, without context: the policies refuse them, so no row comes.
async fn send(client: &Object<Pipelined>, asked: &[Asked<'_>]) -> Answered {
    let prepared = try_join_all(asked.iter().map(|one| client.prepare_cached(one.sql))).await;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let is_over = client.batch_execute("COMMIT").await.is_ok();
            return Answered { rows: Err(error), is_over };
        }
    };
    let queries = asked.iter().zip(&prepared).map(|(one, statement)| client.query(statement, &one.values));
    let (rows, committed) = join(join_all(queries), client.batch_execute("COMMIT")).await;
    let is_over = committed.is_ok();
    let rows = rows.into_iter().collect::<Result<Vec<_>, _>>();
    Answered { rows: rows.and_then(|rows| committed.map(|()| rows)), is_over }
}

async fn within<T>(sql: &'static str, longest: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(longest, work).await.unwrap_or_else(|_| {
        tracing::warn!(statement = name_of(sql), "the database has not answered in time");
        Err(Error::Unavailable("the database is out of reach; try again in a moment".into()))
    })
}

/// A connection that goes back to its pool only when its pipeline has run to the end: a request that was dropped half
/// way leaves answers on the wire that belong to nobody.
pub(super) struct Lease {
    object: Option<Object<Pipelined>>,
    often: &'static [&'static str],
}

impl Lease {
    pub(super) async fn take(connections: &Connections) -> Result<Self> {
        let waiting = metrics::waiting_for(connections.label);
        #[expect(clippy::disallowed_methods, reason = "the room where context is set")]
        let object = connections.pool.get().await;
        drop(waiting);
        Ok(Self { object: Some(object.map_err(refuse_pool)?), often: connections.often })
    }

    #[expect(clippy::expect_used, reason = "filled until give_back or drop, which consume self")]
    pub(super) fn client(&self) -> &Object<Pipelined> {
        self.object.as_ref().expect("a lease holds its connection")
    }

    pub(super) fn give_back(mut self) {
        if let Some(object) = self.object.take() {
            ahead::give_back(object, self.often);
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
