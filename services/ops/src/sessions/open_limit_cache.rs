//! Caches which users have reached the limit of open sessions.

use std::time::Duration;

use knowhow_domain::{Result, TenantId, UserId};
use knowhow_store::Principal;
use moka::sync::Cache;

/// Users who recently reached the quota of open sessions. Checking the quota reads all of a user's sessions, so
/// repeated requests are rejected from this cache.
pub struct FullUsers(Cache<(TenantId, UserId), ()>);

/// Lifetime of an entry. If one of the user's sessions ends in this process, the entry is removed immediately.
const BELIEVED_FOR: Duration = Duration::from_secs(1);
/// Maximum number of cached users.
const USERS: u64 = 10_000;

impl Default for FullUsers {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(USERS).time_to_live(BELIEVED_FOR).build())
    }
}

impl FullUsers {
    pub(super) fn note(&self, principal: &Principal) -> Result<()> {
        self.0.insert((principal.tenant(), principal.user()?), ());
        Ok(())
    }

    pub(super) fn forget(&self, principal: &Principal) -> Result<()> {
        self.0.invalidate(&(principal.tenant(), principal.user()?));
        Ok(())
    }

    pub(super) fn has(&self, principal: &Principal) -> Result<bool> {
        Ok(self.0.contains_key(&(principal.tenant(), principal.user()?)))
    }
}
