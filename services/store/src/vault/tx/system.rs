//! A transaction across tenants: for what no tenant asks for, or what comes before it is known which one asks.

use knowhow_domain::{Result, TenantId};

use super::{DatabaseRole, Named};
use crate::error::refuse;
use crate::vault::held::{Bounded, Held, Source};
use crate::{Database, trail};

/// A transaction across tenants, for the statements in `across` alone.
pub(crate) struct SystemTx {
    name: Named,
    tx: Held,
}

impl SystemTx {
    /// Begins a transaction that a request waits for.
    pub(crate) async fn begin(db: &Database, name: &'static str) -> Result<Self> {
        Self::open(db, db.lookups(), name).await
    }

    /// Begins a transaction of a scheduled job. It takes its connection from the pool for writes, so that a long
    /// statement never holds a connection that requests need to recognise their callers.
    pub(crate) async fn begin_at_leisure(db: &Database, name: &'static str) -> Result<Self> {
        Self::open(db, db.rare(), name).await
    }

    /// Begins a transaction that a request waits for, about one tenant, which is refused where the tenant does not live here.
    pub(crate) async fn begin_about(db: &Database, tenant: TenantId, name: &'static str) -> Result<Self> {
        let about = match db.fence() {
            "" => String::new(),
            fence => format!("; SET LOCAL app.tenant_id = '{}'{fence}", tenant.0),
        };
        Self::open_with(db, db.lookups(), name, &about).await
    }

    async fn open(db: &Database, from: Source<'_>, name: &'static str) -> Result<Self> {
        Self::open_with(db, from, name, "").await
    }

    async fn open_with(db: &Database, from: Source<'_>, name: &'static str, about: &str) -> Result<Self> {
        let name = Named::now(name);
        let since = name.since;
        let begin = || {
            let limits = db.patience.limits(since);
            let mut begin = format!("BEGIN; SET LOCAL ROLE {}; {limits}{about}", DatabaseRole::System.name());
            trail::append_to(&mut begin);
            begin
        };
        Ok(Self { tx: Held::begin(from, db.patience, since, begin).await.map_err(refuse)?, name })
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
