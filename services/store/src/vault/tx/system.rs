//! Transactions across tenants: for scheduled work, and for requests before their tenant is known.

use knowhow_domain::{Result, TenantId};

use super::{DatabaseRole, TransactionLog};
use crate::Database;
use crate::vault::error::refuse;
use crate::vault::request_context;
use crate::vault::rollback_guard::{Bounded, GuardedConnection, LabelledPool};

/// A transaction across tenants, only for the statements in `across`.
pub(crate) struct SystemTx {
    name: TransactionLog,
    tx: GuardedConnection,
}

impl SystemTx {
    /// Begins a transaction that a request waits for.
    pub(crate) async fn begin(db: &Database, name: &'static str) -> Result<Self> {
        Self::open(db, db.lookups(), name).await
    }

    /// Begins a transaction for a scheduled job. It uses the pool for administration, so that a long statement never
    /// occupies a connection needed for authentication.
    pub(crate) async fn begin_at_leisure(db: &Database, name: &'static str) -> Result<Self> {
        Self::open(db, db.rare(), name).await
    }

    /// Begins a transaction about one tenant that a request waits for. Fails with `Unavailable` if the tenant lives
    /// in another place.
    pub(crate) async fn begin_about(db: &Database, tenant: TenantId, name: &'static str) -> Result<Self> {
        let about = match db.fence() {
            "" => String::new(),
            fence => format!("; SET LOCAL app.tenant_id = '{}'{fence}", tenant.0),
        };
        Self::open_with(db, db.lookups(), name, &about).await
    }

    async fn open(db: &Database, from: LabelledPool<'_>, name: &'static str) -> Result<Self> {
        Self::open_with(db, from, name, "").await
    }

    async fn open_with(db: &Database, from: LabelledPool<'_>, name: &'static str, about: &str) -> Result<Self> {
        let name = TransactionLog::now(name);
        let since = name.since;
        let begin = || {
            let limits = db.patience.limits(since);
            let mut begin = format!("BEGIN; SET LOCAL ROLE {}; {limits}{about}", DatabaseRole::System.name());
            request_context::append_to(&mut begin);
            begin
        };
        Ok(Self { tx: GuardedConnection::begin(from, db.patience, since, begin).await.map_err(refuse)?, name })
    }

    pub(crate) fn conn(&mut self) -> Bounded<'_> {
        self.tx.bounded()
    }

    pub(crate) async fn commit(self) -> Result<()> {
        self.tx.commit().await.map_err(refuse)?;
        self.name.tell("committed");
        Ok(())
    }
}
