//! The only way to a tenant's rows for a write: a transaction that carries its caller's context from its first byte.

use std::time::Duration;

use knowhow_domain::{Result, TenantId, UserId};
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Transaction};
use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;

use crate::error::refuse;
use crate::{Database, Principal, reach, trail, turns};

/// Which role a transaction takes; the login role itself may do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseRole {
    Tenant,
    Admin,
    System,
    /// The worker's, over the queue alone.
    Queue,
    /// The migrations'.
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
pub(crate) fn begin_statement(role: DatabaseRole, tenant: TenantId, user: UserId, timeout_ms: u128) -> String {
    let mut begin = format!(
        "BEGIN; SET LOCAL ROLE {}; SET LOCAL app.tenant_id = '{}'; SET LOCAL app.user_id = '{}'; \
         SET LOCAL statement_timeout = {timeout_ms}",
        role.name(),
        tenant.0,
        user.0
    );
    trail::append_to(&mut begin);
    begin
}

/// How long a transaction may wait for its connection before it is asked whether anybody listens at all.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Begins on a connection that lives. Where connections are busy the wait is the pool's; where nobody listens, which the
/// pool takes for a server that is about to start, it ends at once.
pub(crate) async fn begin_on_live(pool: &PgPool, begin: &str) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    // Both go on beside each other: a connection that falls to the one must not wait for the other.
    tokio::select! {
        biased;
        begun = begin_on_kept(pool, begin) => begun,
        () = refused(pool) => Err(sqlx::Error::Io(std::io::ErrorKind::ConnectionRefused.into())),
    }
}

/// Ends once it is known that nobody listens, and else never.
async fn refused(pool: &PgPool) {
    tokio::time::sleep(FIRST_WAIT).await;
    if !reach::is_refused(&pool.connect_options()).await {
        std::future::pending::<()>().await;
    }
}

/// The pool does not test the connections that it has kept, so after a restart of Postgres some are dead: each is found
/// out, dropped, and costs another try. Nothing was asked of it yet, so nothing is done twice.
async fn begin_on_kept(pool: &PgPool, begin: &str) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let mut kept = pool.size();
    loop {
        #[expect(clippy::disallowed_methods, reason = "the room where context is set")]
        match pool.begin_with(AssertSqlSafe(begin.to_owned())).await {
            Err(error) if kept > 0 && is_lost(&error) => kept -= 1,
            begun => return begun,
        }
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

/// An open transaction of one principal. Dropped without [`TenantTx::commit`], it rolls back.
pub struct TenantTx {
    tx: Transaction<'static, Postgres>,
    tenant: TenantId,
    user: UserId,
    actor: String,
    /// Given back after the transaction is over, as fields are dropped in this order.
    _turn: Option<OwnedSemaphorePermit>,
}

impl TenantTx {
    /// Opens a transaction for the principal's own user.
    ///
    /// # Errors
    /// `Malformed` where the principal names no user; `Unavailable` where no connection is to be had.
    pub async fn begin(db: &Database, principal: &Principal) -> Result<Self> {
        Self::open(db, principal, DatabaseRole::Tenant, principal.user()?).await
    }

    /// Opens a transaction of a tenant's admin over `user`'s rows, or [`UserId::TENANT_WIDE`].
    ///
    /// # Errors
    /// `Forbidden` for anyone but an admin; `Unavailable` where no connection is to be had.
    pub async fn begin_admin(db: &Database, principal: &Principal, user: UserId) -> Result<Self> {
        principal.require_admin()?;
        Self::open(db, principal, DatabaseRole::Admin, user).await
    }

    async fn open(db: &Database, principal: &Principal, role: DatabaseRole, user: UserId) -> Result<Self> {
        let turn = turns::take(principal.tenant(), user).await?;
        let begin = begin_statement(role, principal.tenant(), user, db.statement_timeout_ms);
        let tx = begin_on_live(&db.writes, &begin).await.map_err(refuse)?;
        Ok(Self { tx, tenant: principal.tenant(), user, actor: principal.actor().to_owned(), _turn: turn })
    }

    /// Makes everything durable.
    ///
    /// # Errors
    /// `Unavailable` where the answer did not come; the caller then repeats with the same idempotency key.
    pub async fn commit(self) -> Result<()> {
        self.tx.commit().await.map_err(refuse)
    }

    /// Takes the user's catalogue row, which all writes to what recall and snapshots show take first: what is read behind
    /// it is current, and nobody waits in a circle.
    pub(crate) async fn lock_catalog(&mut self) -> Result<()> {
        let (tenant, user) = (self.tenant(), self.user());
        sqlx::query!(
            "-- tx.lock_catalog
            select revision from user_catalogs where tenant_id = $1 and user_id = $2 for update",
            tenant,
            user
        )
        .fetch_optional(self.conn())
        .await
        .map_err(refuse)?;
        Ok(())
    }

    pub(crate) fn conn(&mut self) -> &mut PgConnection {
        &mut self.tx
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
}

/// A transaction across tenants. Private to this crate: see `system.rs` for the few statements and their reasons.
pub(crate) struct SystemTx {
    tx: Transaction<'static, Postgres>,
}

impl SystemTx {
    /// For what a request waits for.
    pub(crate) async fn begin(db: &Database) -> Result<Self> {
        Self::open(db, &db.lookups).await
    }

    /// For what the clock does: a long statement leaves the connections alone by which callers are recognised.
    pub(crate) async fn begin_at_leisure(db: &Database) -> Result<Self> {
        Self::open(db, &db.writes).await
    }

    async fn open(db: &Database, pool: &PgPool) -> Result<Self> {
        let (role, timeout_ms) = (DatabaseRole::System.name(), db.statement_timeout_ms);
        let mut begin = format!("BEGIN; SET LOCAL ROLE {role}; SET LOCAL statement_timeout = {timeout_ms}");
        trail::append_to(&mut begin);
        Ok(Self { tx: begin_on_live(pool, &begin).await.map_err(refuse)? })
    }

    pub(crate) fn conn(&mut self) -> &mut PgConnection {
        &mut self.tx
    }

    pub(crate) async fn commit(self) -> Result<()> {
        self.tx.commit().await.map_err(refuse)
    }
}
