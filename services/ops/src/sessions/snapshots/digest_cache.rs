//! Caches the digests of recently returned snapshots.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Result, Scope, TenantId, Tools, UserId};
use knowhow_store::Principal;
use moka::sync::Cache;

use super::{ForTools, SnapshotView};
use crate::Ctx;

/// Digests of recently returned snapshots. A conditional request for the same snapshot needs no query.
pub struct KnownSnapshots(Cache<(TenantId, UserId, Tools), Arc<str>>);

/// Lifetime of an entry. Deleted content must disappear from the snapshots of new sessions within 5 s.
const KNOWN_FOR: Duration = Duration::from_secs(2);
/// Maximum number of entries.
const KNOWN: u64 = 100_000;

impl Default for KnownSnapshots {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(KNOWN).time_to_live(KNOWN_FOR).build())
    }
}

impl KnownSnapshots {
    pub(super) fn note(&self, principal: &Principal, tools: Tools, snapshot: &SnapshotView) -> Result<()> {
        self.0.insert((principal.tenant(), principal.user()?, tools), snapshot.sha256.as_str().into());
        Ok(())
    }
}

/// Returns the hex SHA-256 of the user's current snapshot, if this process has returned that snapshot within the last 2
/// seconds.
pub fn find_known(ctx: &Ctx, agent: &ForTools) -> Result<Option<Arc<str>>> {
    ctx.principal.require(Scope::Sessions)?;
    Ok(ctx.app.snapshots.0.get(&(ctx.principal.tenant(), ctx.principal.user()?, agent.tools.unwrap_or_default())))
}
