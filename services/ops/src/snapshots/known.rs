//! Remembers for a moment which snapshots this process has given out.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Result, Scope, TenantId, Tools, UserId};
use knowhow_store::Principal;
use moka::sync::Cache;

use super::{ForTools, SnapshotView};
use crate::Ctx;

/// Which snapshots this process has just given out, so that who has one already is told so without asking the database.
pub struct KnownSnapshots(Cache<(TenantId, UserId, Tools), Arc<str>>);

/// How long it is believed. What is deleted is out of the snapshots of sessions to come within 5 s.
const KNOWN_FOR: Duration = Duration::from_secs(2);
/// Most users.
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

/// The SHA-256 of the user's current snapshot, hex, where this process has given it out within the last 2 seconds.
///
/// # Errors
/// `Forbidden`.
pub fn find_known(ctx: &Ctx, agent: &ForTools) -> Result<Option<Arc<str>>> {
    ctx.principal.require(Scope::Sessions)?;
    Ok(ctx.app.snapshots.0.get(&(ctx.principal.tenant(), ctx.principal.user()?, agent.tools.unwrap_or_default())))
}
