//! A transaction that changes something in as few round trips as it can: two where it reads before it writes.
//!
//! A round trip carries several statements. They are sent one behind the other without waiting for an answer, and the
//! answers are then awaited together:
//!
//! 1. BEGIN with the caller's context, the user's catalogue row locked, an idempotency key claimed, and what is read
//!    behind that lock;
//! 2. the write, the answer for the idempotency key, and COMMIT.
//!
//! COMMIT is sent before the write has answered. So a write that may find nothing to change calls
//! `app.require_written`, and checks that decide against a write come before it, on numbers that the lock keeps still.
//!
//! A write that decides by its answer what comes next is sent with the first round trip, behind the claim. Where the key
//! turns out to be claimed by an earlier request, the transaction is rolled back, and another one reads that request's answer.

mod claim;

use std::time::Instant;

use knowhow_domain::{Error, Result};
use knowhow_telemetry::trace::{self, Wait};
use tokio::time::timeout;

use self::claim::made_before;
use super::ahead::Connections;
use super::connection::{Connection, Failed, Places, RowOwner};
use super::line;
use super::queued::{Answer, Queued, in_queue};
use super::room::Kind;
use super::statement::{Read, Statement, Write, statement};
use super::tx::{DatabaseRole, PLAN_ONCE, begin_statement};
use crate::{Database, Principal};

statement! {
    write LockUser {} -> (),
    "-- write_tx.lock_user
    select c.revision from user_catalogs c where c.tenant_id = $1 and c.user_id = $2 for update"
}

/// An open transaction of one principal's user. Dropped without [`WriteTx::commit`], it leaves nothing behind.
pub struct WriteTx {
    name: &'static str,
    /// Ends with the transaction.
    _span: Wait,
    pool: Connections,
    connection: Connection,
    queue: Vec<Box<dyn Queued>>,
    claim: Option<Answer<()>>,
    counts: Option<Counts>,
    statements: usize,
    flights: u32,
    since: Instant,
    is_refused: bool,
    actor: String,
}

/// What the user's catalogue row said when this transaction locked it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) skills: i32,
    pub(crate) bytes: i64,
    pub(crate) stored_bytes: i64,
}

impl WriteTx {
    /// Takes a place in the user's line and a connection; nothing is sent yet. `name` says in the log what the
    /// transaction is for.
    ///
    /// # Errors
    /// `Malformed` where the principal names no user; `RateLimited` where too many requests of the user wait;
    /// `Unavailable` where no connection is to be had.
    pub async fn begin(db: &Database, principal: &Principal, name: &'static str) -> Result<Self> {
        let (since, at) = (Instant::now(), db.of(principal));
        let patience = at.patience;
        let span = trace::wait_for(name);
        let (tenant, user) = (principal.tenant(), principal.user()?);
        let place = line::TRANSACTIONS.take(tenant, user, patience.for_turn()).await?;
        let room = at.room.enter(Kind::Changes, tenant, patience.for_connection(since)).await?;
        // Whatever the request has waited for before, a new connection has the time that opening one takes.
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
                Places { _line: place, _room: room },
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

    /// Has a statement sent with the next one that is run, or with COMMIT, ahead of that. Its answer is known then.
    pub(crate) fn send_ahead<S: Statement + Send + 'static>(&mut self, statement: S) -> Answer<S::Row> {
        let (queued, answer) = in_queue(statement);
        self.queue.push(queued);
        self.statements += 1;
        answer
    }

    /// How many statements were sent so far or are in the queue. A caller that refuses something halfway compares it to learn
    /// whether part of that is in the transaction.
    pub fn statements(&self) -> usize {
        self.statements
    }

    /// Runs a statement that changes nothing, behind all that was to be sent before.
    pub(crate) async fn read<S: Read + Send + 'static>(&mut self, statement: S) -> Result<Vec<S::Row>> {
        self.run(statement).await
    }

    /// Runs a statement that changes something now, where its answer decides what comes next.
    pub(crate) async fn write<S: Write + Send + 'static>(&mut self, statement: S) -> Result<Vec<S::Row>> {
        self.run(statement).await
    }

    /// Sends what is in the queue now.
    pub(crate) async fn fly_now(&mut self) -> Result<()> {
        self.fly(false).await
    }

    async fn run<S: Statement + Send + 'static>(&mut self, statement: S) -> Result<Vec<S::Row>> {
        let answer = self.send_ahead(statement);
        self.fly(false).await?;
        answer.take()
    }

    /// Makes everything durable. What is still in the queue is sent together with COMMIT.
    ///
    /// # Errors
    /// `Unavailable` where the answer did not come; the caller then repeats with the same idempotency key. `Internal`
    /// where a write did not find what it was to change; nothing is kept then.
    pub async fn commit(mut self) -> Result<()> {
        self.learn_claim().await?;
        if self.connection.has_begun() || !self.queue.is_empty() {
            self.fly(true).await?;
        }
        self.tell("committed");
        Ok(())
    }

    /// Sends everything in one round trip with COMMIT. `false`, and nothing is kept, where `app.require_written` has refused it:
    /// something is not as the caller took it to be.
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

    /// Takes the user's catalogue row ahead of the next statement, as all writes to what recall and snapshots show do:
    /// what is read behind it is current, and nobody waits in a circle.
    pub(crate) fn lock_user(&mut self) {
        self.send_ahead(LockUser {});
    }

    pub(crate) fn set_counts(&mut self, counts: Counts) {
        self.counts = Some(counts);
    }

    pub(crate) fn counts(&self) -> Result<Counts> {
        self.counts.ok_or_else(|| Error::internal("a change without the user's catalogue row locked"))
    }

    pub(crate) fn actor(&self) -> String {
        self.actor.clone()
    }

    /// One round trip: what is in the queue, and COMMIT where that is asked for.
    async fn fly(&mut self, commits: bool) -> Result<()> {
        let flight = std::mem::take(&mut self.queue);
        self.flights += 1;
        let mut sent = self.connection.send(&flight, commits).await;
        // Nothing was done on a connection that was closed before it began anything, so nothing is done twice. The pool
        // may have kept others that are closed too.
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
            // If so, other failures do not count: the work was not to be done again.
            _ if self.was_made_before() => Err(made_before()),
            Some(failed) => {
                self.is_refused = failed.is_refused_write();
                Err(failed.refuse(self.name))
            }
            None => Ok(()),
        }
    }
}
