//! Full: which users have just been told that they have as many open sessions as can be.

use std::time::Duration;

use knowhow_domain::{Result, TenantId, UserId};
use knowhow_store::Principal;
use moka::sync::Cache;

/// Users who had no room for another session a moment ago. To find that out, Postgres reads all of a user's sessions; who
/// asks again at once is told the same without that.
pub struct FullUsers(Cache<(TenantId, UserId), ()>);

/// How long it is believed. A session that ends in this process makes room at once.
const BELIEVED_FOR: Duration = Duration::from_secs(1);
/// Most users.
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
