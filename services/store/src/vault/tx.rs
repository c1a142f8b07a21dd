//! Transactions through sqlx, with statements checked at compile time and one round trip per statement, for
//! administration, jobs and exports. As in the pipeline, the first message sets the caller's context.

mod system;

use std::time::Instant;

use knowhow_domain::{Result, TenantId, UserId};
use knowhow_telemetry::trace::{self as spans, Wait};
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

pub(crate) use system::SystemTx;

use crate::vault::connection_queue::{Kind, Place};
use crate::vault::error::refuse;
use crate::vault::request_context;
use crate::vault::rollback_guard::{Bounded, GuardedConnection};
use crate::vault::user_concurrency::TenantUser;
use crate::{Database, Principal};

/// Database role of a transaction. The login role itself has no rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseRole {
    Tenant,
    Admin,
    System,
    /// The worker's role, with access to the queue only.
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

/// Returns `BEGIN` and the whole context as one message. Only parsed UUIDs, constants and numbers are interpolated.
/// All settings are `SET LOCAL`, so connections keep no state and transaction-mode poolers are safe.
pub(crate) fn begin_statement(role: DatabaseRole, tenant: TenantId, user: UserId, limits: &str) -> String {
    let mut begin = format!("BEGIN; {}; {limits}", context_statement(role, tenant, user));
    request_context::append_to(&mut begin);
    begin
}

/// Makes Postgres cache one generic plan per statement. Otherwise it would plan some statements at every execution,
/// which costs more than running them. `tests/store/plans.rs` checks these plans.
///
/// A plan may be made while a table is empty, when a sequential scan seems cheapest, and it stays cached as the table
/// grows. So sequential scans are disabled. Before Postgres 18, a plan with an unavoidable sequential scan then has
/// such a high cost that Postgres would compile it (JIT) at each execution. So JIT is off. The settings are set per
/// transaction, because poolers reject them as connection options.
pub(super) const PLAN_ONCE: &str =
    "; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off";

/// Returns statements that set the role, tenant and user of the open transaction.
pub(super) fn context_statement(role: DatabaseRole, tenant: TenantId, user: UserId) -> String {
    format!(
        "SET LOCAL ROLE {}; SET LOCAL app.tenant_id = '{}'; SET LOCAL app.user_id = '{}'",
        role.name(),
        tenant.0,
        user.0
    )
}

/// Role of a transaction, and the user of its rows.
struct TransactionRole {
    role: DatabaseRole,
    user: UserId,
    /// Statement appended to BEGIN to set the isolation level, or empty.
    reads: &'static str,
}

/// Name of a transaction for logs, and the start of the caller's wait.
struct TransactionLog {
    name: &'static str,
    since: Instant,
    /// Span that ends with the transaction.
    _span: Wait,
}

impl TransactionLog {
    fn now(name: &'static str) -> Self {
        Self { name, since: Instant::now(), _span: spans::wait_for(name) }
    }

    fn tell(&self, outcome: &'static str) {
        let micros = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(transaction = self.name, elapsed_us = micros, "{outcome}");
    }
}

/// An open transaction of one principal. It rolls back if it is dropped without [`TenantTx::commit`].
pub struct TenantTx {
    name: TransactionLog,
    tx: GuardedConnection,
    tenant: TenantId,
    user: UserId,
    actor: String,
    tenant_slug: String,
    /// Permits, which are released after the transaction is over, because fields are dropped in this order.
    _place: Place,
    _turn: Option<OwnedSemaphorePermit>,
}

impl TenantTx {
    /// Opens a transaction for the principal's own user. `name` is its purpose, for logs.
    ///
    /// # Errors
    /// `Malformed` if the principal has no user; `Unavailable` if no connection is available.
    pub async fn begin(db: &Database, principal: &Principal, name: &'static str) -> Result<Self> {
        Self::open(
            db,
            principal,
            TransactionRole { role: DatabaseRole::Tenant, user: principal.user()?, reads: "" },
            name,
        )
        .await
    }

    /// Opens a transaction for a tenant's admin to access the rows of `user`, or of [`UserId::TENANT_WIDE`].
    ///
    /// # Errors
    /// `Forbidden` unless the caller is an admin; `Unavailable` if no connection is available.
    pub async fn begin_admin(db: &Database, principal: &Principal, user: UserId, name: &'static str) -> Result<Self> {
        principal.require_admin()?;
        Self::open(db, principal, TransactionRole { role: DatabaseRole::Admin, user, reads: "" }, name).await
    }

    /// Opens a read-only transaction like [`TenantTx::begin_admin`]. All statements see the same snapshot, the one of
    /// the first statement.
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
        // The level is set before the first read. If the tenant was moved away just now, the snapshot may predate the
        // move, but its data is complete.
        let reads = "; set transaction isolation level repeatable read, read only";
        Self::open(db, principal, TransactionRole { role: DatabaseRole::Admin, user, reads }, name).await
    }

    async fn open(db: &Database, principal: &Principal, acting: TransactionRole, name: &'static str) -> Result<Self> {
        let (name, at, fence) = (TransactionLog::now(name), db.of(principal), db.fence());
        let patience = at.patience;
        let (since, TransactionRole { role, user, reads }) = (name.since, acting);
        let turn = at
            .user_concurrency
            .transactions
            .take(TenantUser { tenant: principal.tenant(), user }, patience.for_turn())
            .await?;
        let place = at.queue.enter(Kind::Rare, principal.tenant(), patience.for_connection(since)).await?;
        let begin = || begin_statement(role, principal.tenant(), user, &patience.limits(since)) + reads + fence;
        let tx = GuardedConnection::begin(at.rare(), patience, since, begin).await.map_err(refuse)?;
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

    /// Commits the transaction.
    ///
    /// # Errors
    /// `Unavailable` if the answer did not arrive. The caller should then retry with the same idempotency key.
    pub async fn commit(self) -> Result<()> {
        self.tx.commit().await.map_err(refuse)?;
        self.name.tell("committed");
        Ok(())
    }

    /// Locks the user's catalogue row. All writes to data that recall and snapshots show lock this row first. Later
    /// reads are therefore current, and deadlocks are avoided.
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
