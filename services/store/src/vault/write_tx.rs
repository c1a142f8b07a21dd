//! A write transaction with the fewest possible round trips: two if it reads before it writes.
//!
//! A round trip carries several statements, sent without waiting for the answers in between:
//!
//! 1. BEGIN with the caller's context, the lock on the user's catalogue row, the claim of an idempotency key, and
//!    reads after that lock;
//! 2. the write, the stored answer for the idempotency key, and COMMIT.
//!
//! COMMIT is sent before the answer to the write has arrived. So a write that may find no row to change must call
//! `app.require_written`. Checks that reject a write run before it, and use numbers that cannot change because of the
//! lock.
//!
//! If the answer to a write determines the next statement, the write is sent with the first round trip, after the
//! claim. If an earlier request has already claimed the key, the transaction is rolled back, and another transaction
//! reads the answer of that request.

mod claim;

use std::time::Instant;

use knowhow_domain::{Error, Result};
use knowhow_telemetry::trace::{self, Wait};
use tokio::time::timeout;

use self::claim::made_before;
use super::connection::{Connection, Failed, RowOwner, TransactionPermits};
use super::statement::{Read, Statement, Write, statement};
use super::tx::{DatabaseRole, PLAN_ONCE, begin_statement};
use crate::vault::batch::{PendingRows, QueuedStatement, in_queue};
use crate::vault::connection_queue::Kind;
use crate::vault::user_concurrency::TenantUser;
use crate::vault::warm_up::WarmPool;
use crate::{Database, Principal};

statement! {
    write LockUser {} -> (),
    "-- write_tx.lock_user
    select c.revision from user_catalogs c where c.tenant_id = $1 and c.user_id = $2 for update"
}

/// An open transaction of one principal's user. It rolls back if it is dropped without [`WriteTx::commit`].
pub struct WriteTx {
    name: &'static str,
    /// Span that ends with the transaction.
    _span: Wait,
    pool: WarmPool,
    connection: Connection,
    queue: Vec<Box<dyn QueuedStatement>>,
    claim: Option<PendingRows<()>>,
    counts: Option<CatalogueCounts>,
    statements: usize,
    flights: u32,
    since: Instant,
    is_refused: bool,
    actor: String,
}

/// Totals of the user's skills when this transaction locked the catalogue row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CatalogueCounts {
    pub(crate) skills: i32,
    pub(crate) bytes: i64,
    pub(crate) stored_bytes: i64,
}

impl WriteTx {
    /// Acquires the user's permit and a connection. Sends no statement yet. `name` is the purpose of the transaction,
    /// for logs.
    ///
    /// # Errors
    /// `Malformed` if the principal has no user; `RateLimited` if too many requests of the user wait; `Unavailable` if
    /// no connection is available.
    pub async fn begin(db: &Database, principal: &Principal, name: &'static str) -> Result<Self> {
        let (since, at) = (Instant::now(), db.of(principal));
        let patience = at.patience;
        let span = trace::wait_for(name);
        let (tenant, user) = (principal.tenant(), principal.user()?);
        let place = at.user_concurrency.transactions.take(TenantUser { tenant, user }, patience.for_turn()).await?;
        let room = at.queue.enter(Kind::Changes, tenant, patience.for_connection(since)).await?;
        // Opening a new connection gets its full time, regardless of how long the request has waited before.
        let connection = timeout(patience.acquire, Connection::take(&at.changes, patience))
            .await
            .unwrap_or_else(|_| Err(Failed::Silent.refuse(name)))?;
        let begin =
            begin_statement(DatabaseRole::Tenant, tenant, user, &patience.limits(since)) + PLAN_ONCE + db.fence();
        Ok(Self {
            name,
            _span: span,
            pool: at.changes.clone(),
            connection: connection.begin_with(
                begin,
                RowOwner { tenant: tenant.0, user: user.0 },
                TransactionPermits { _line: place, _room: room },
            ),
            queue: Vec::new(),
            claim: None,
            counts: None,
            statements: 0,
            flights: 0,
            since,
            is_refused: false,
            actor: principal.actor().to_owned(),
        })
    }

    /// Queues a statement. The next round trip sends it, and then its answer is available.
    pub(crate) fn send_ahead<S: Statement + Send + 'static>(&mut self, statement: S) -> PendingRows<S::Row> {
        let (queued, answer) = in_queue(statement);
        self.queue.push(queued);
        self.statements += 1;
        answer
    }

    /// Returns the number of statements sent or queued so far. A caller compares it before and after a rejected
    /// change to learn whether the transaction contains a part of that change.
    pub fn statements(&self) -> usize {
        self.statements
    }

    /// Runs a read after all queued statements.
    pub(crate) async fn read<S: Read + Send + 'static>(&mut self, statement: S) -> Result<Vec<S::Row>> {
        self.run(statement).await
    }

    /// Runs a write now, because its answer determines the next statement.
    pub(crate) async fn write<S: Write + Send + 'static>(&mut self, statement: S) -> Result<Vec<S::Row>> {
        self.run(statement).await
    }

    /// Sends the queued statements now.
    pub(crate) async fn fly_now(&mut self) -> Result<()> {
        self.fly(false).await
    }

    async fn run<S: Statement + Send + 'static>(&mut self, statement: S) -> Result<Vec<S::Row>> {
        let answer = self.send_ahead(statement);
        self.fly(false).await?;
        answer.take()
    }

    /// Commits the transaction. Statements still in the queue are sent together with COMMIT.
    ///
    /// # Errors
    /// `Unavailable` if the answer did not arrive. The caller should then retry with the same idempotency key.
    /// `Internal` if a write did not find its row; the transaction is rolled back then.
    pub async fn commit(mut self) -> Result<()> {
        self.learn_claim().await?;
        if self.connection.has_begun() || !self.queue.is_empty() {
            self.fly(true).await?;
        }
        self.tell("committed");
        Ok(())
    }

    /// Sends all queued statements in one round trip with COMMIT. Returns `false` after a rollback if
    /// `app.require_written` rejected a write, because the data has changed since the caller read it.
    ///
    /// # Errors
    /// As [`WriteTx::commit`].
    pub async fn commit_unless_refused(mut self) -> Result<bool> {
        let flown = self.fly(true).await;
        let is_refused = flown.is_err() && self.is_refused;
        self.tell(if is_refused { "refused" } else { "committed" });
        if is_refused { Ok(false) } else { flown.map(|()| true) }
    }

    fn tell(&self, outcome: &'static str) {
        let micros = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(transaction = self.name, flights = self.flights, elapsed_us = micros, "{outcome}");
    }

    /// Queues the lock on the user's catalogue row. All writes to data that recall and snapshots show lock this row
    /// first. Later reads are therefore current, and deadlocks are avoided.
    pub(crate) fn lock_user(&mut self) {
        self.send_ahead(LockUser {});
    }

    pub(crate) fn set_counts(&mut self, counts: CatalogueCounts) {
        self.counts = Some(counts);
    }

    pub(crate) fn counts(&self) -> Result<CatalogueCounts> {
        self.counts.ok_or_else(|| Error::internal("a change without the user's catalogue row locked"))
    }

    pub(crate) fn actor(&self) -> String {
        self.actor.clone()
    }

    /// Sends the queue in one round trip, followed by COMMIT if `commits`.
    async fn fly(&mut self, commits: bool) -> Result<()> {
        let flight = std::mem::take(&mut self.queue);
        self.flights += 1;
        let mut sent = self.connection.send(&flight, commits).await;
        // No statement ran on a connection that was closed before the transaction began, so a retry is safe. The pool
        // may have several such connections.
        for _ in 0..self.pool.pool.status().max_size {
            if !self.connection.was_closed_before_it_began() {
                break;
            }
            self.connection.replace(&self.pool).await?;
            sent = self.connection.send(&flight, commits).await;
        }
        for (queued, rows) in flight.iter().zip(&sent.rows) {
            queued.answer(rows)?;
        }
        match sent.failed {
            // If the request is a repetition, other failures do not matter, because its work must not be done again.
            _ if self.was_made_before() => Err(made_before()),
            Some(failed) => {
                self.is_refused = failed.is_refused_write();
                Err(failed.refuse(self.name))
            }
            None => Ok(()),
        }
    }
}
