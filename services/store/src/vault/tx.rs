//! A transaction whose statements the compiler checks, each in a round trip of its own: for administration, jobs and
//! exports. It carries its caller's context from its first byte, as those of the pipeline do.

mod system;

use std::time::Instant;

use knowhow_domain::{Result, TenantId, UserId};
use knowhow_telemetry::trace::{self as spans, Wait};
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

pub(crate) use system::SystemTx;

use super::line;
use super::room::{Kind, Place};
use crate::error::refuse;
use crate::vault::held::{Bounded, Held};
use crate::{Database, Principal, trail};

/// Which role a transaction takes; the login role itself may do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseRole {
    Tenant,
    Admin,
    System,
    /// The worker's, over the queue alone.
    Queue,
    Owner,
}

impl DatabaseRole {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tenant => "knowhow_tenant",
            Self::Admin => "knowhow_admin",
            Self::System => "knowhow_system",
            Self::Queue => "knowhow_queue",
            Self::Owner => "knowhow_owner",
        }
    }
}

/// `BEGIN` and the whole context as one message. Only parsed UUIDs, constants and numbers are formatted in; all of it
/// is `SET LOCAL`, so nothing survives in the pool and transaction-mode poolers are safe.
pub(crate) fn begin_statement(role: DatabaseRole, tenant: TenantId, user: UserId, limits: &str) -> String {
    let mut begin = format!("BEGIN; {}; {limits}", context_statement(role, tenant, user));
    trail::append_to(&mut begin);
    begin
}

/// Keeps one plan of each statement for all values. Postgres would otherwise plan some statements at every execution,
/// which costs more than to run them; the plans that are kept are the ones that `tests/store/plans.rs` looks at. A plan may be
/// made while a table is empty, where to read all of it seems cheapest, and is kept while it grows: so indexes are always
/// preferred. Before version 18 of Postgres a plan that still reads a whole table then looks so dear that it would be compiled each
/// time. Said in each transaction: a pooler takes no such options of a connection.
pub(super) const PLAN_ONCE: &str =
    "; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off";

/// For whom the open transaction is, alone.
pub(super) fn context_statement(role: DatabaseRole, tenant: TenantId, user: UserId) -> String {
    format!(
        "SET LOCAL ROLE {}; SET LOCAL app.tenant_id = '{}'; SET LOCAL app.user_id = '{}'",
        role.name(),
        tenant.0,
        user.0
    )
}

/// As which role, and over which user's rows.
struct As {
    role: DatabaseRole,
    user: UserId,
    /// How it reads, as a statement behind others.
    reads: &'static str,
}

/// What a transaction is for, as the log says it, and when somebody began to wait for it.
struct Named {
    name: &'static str,
    since: Instant,
    /// Ends with the transaction.
    _span: Wait,
}

impl Named {
    fn now(name: &'static str) -> Self {
        Self { name, since: Instant::now(), _span: spans::wait_for(name) }
    }

    fn tell(&self, outcome: &'static str) {
        let micros = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(transaction = self.name, elapsed_us = micros, "{outcome}");
    }
}

/// An open transaction of one principal. Dropped without [`TenantTx::commit`], it rolls back.
pub struct TenantTx {
    name: Named,
    tx: Held,
    tenant: TenantId,
    user: UserId,
    actor: String,
    tenant_slug: String,
    /// Given back after the transaction is over, as fields are dropped in this order.
    _place: Place,
    _turn: Option<OwnedSemaphorePermit>,
}

impl TenantTx {
    /// Opens a transaction for the principal's own user. `name` says in the log what it is for.
    ///
    /// # Errors
    /// `Malformed` where the principal names no user; `Unavailable` where no connection is to be had.
    pub async fn begin(db: &Database, principal: &Principal, name: &'static str) -> Result<Self> {
        Self::open(db, principal, As { role: DatabaseRole::Tenant, user: principal.user()?, reads: "" }, name).await
    }

    /// Opens a transaction of a tenant's admin over `user`'s rows, or [`UserId::TENANT_WIDE`].
    ///
    /// # Errors
    /// `Forbidden` for anyone but an admin; `Unavailable` where no connection is to be had.
    pub async fn begin_admin(db: &Database, principal: &Principal, user: UserId, name: &'static str) -> Result<Self> {
        principal.require_admin()?;
        Self::open(db, principal, As { role: DatabaseRole::Admin, user, reads: "" }, name).await
    }

    /// The same to read alone: every statement sees the state of the first.
    ///
    /// # Errors
    /// As [`TenantTx::begin_admin`].
    pub(crate) async fn begin_reading(
        db: &Database,
        principal: &Principal,
        user: UserId,
        name: &'static str,
    ) -> Result<Self> {
        principal.require_admin()?;
        // Before the first statement that reads. Where the tenant has just left, this may not see that: what it reads is whole.
        let reads = "; set transaction isolation level repeatable read, read only";
        Self::open(db, principal, As { role: DatabaseRole::Admin, user, reads }, name).await
    }

    async fn open(db: &Database, principal: &Principal, acting: As, name: &'static str) -> Result<Self> {
        let (name, at, fence) = (Named::now(name), db.of(principal), db.fence());
        let patience = at.patience;
        let (since, As { role, user, reads }) = (name.since, acting);
        let turn = line::TRANSACTIONS.take(principal.tenant(), user, patience.for_turn()).await?;
        let place = at.room.enter(Kind::Rare, principal.tenant(), patience.for_connection(since)).await?;
        let begin = || begin_statement(role, principal.tenant(), user, &patience.limits(since)) + reads + fence;
        let tx = Held::begin(at.rare(), patience, since, begin).await.map_err(refuse)?;
        Ok(Self {
            name,
            tx,
            tenant: principal.tenant(),
            user,
            actor: principal.actor().to_owned(),
            tenant_slug: principal.tenant_slug().to_owned(),
            _place: place,
            _turn: turn,
        })
    }

    /// Makes everything durable.
    ///
    /// # Errors
    /// `Unavailable` where the answer did not come; the caller then repeats with the same idempotency key.
    pub async fn commit(self) -> Result<()> {
        self.tx.commit().await.map_err(refuse)?;
        self.name.tell("committed");
        Ok(())
    }

    /// Takes the user's catalogue row, which all writes to what recall and snapshots show take first: what is read behind
    /// it is current, and nobody waits in a circle.
    pub(crate) async fn lock_user(&mut self) -> Result<()> {
        let (tenant, user) = (self.tenant(), self.user());
        sqlx::query!(
            "-- tx.lock_user
            select revision from user_catalogs where tenant_id = $1 and user_id = $2 for update",
            tenant,
            user
        )
        .fetch_optional(self.conn())
        .await
        .map_err(refuse)?;
        Ok(())
    }

    pub(crate) fn conn(&mut self) -> Bounded<'_> {
        self.tx.bounded()
    }

    pub(crate) fn tenant(&self) -> Uuid {
        self.tenant.0
    }

    pub(crate) fn user(&self) -> Uuid {
        self.user.0
    }

    pub(crate) fn actor(&self) -> &str {
        &self.actor
    }

    pub(crate) fn tenant_slug(&self) -> &str {
        &self.tenant_slug
    }
}
