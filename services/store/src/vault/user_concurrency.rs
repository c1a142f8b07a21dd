//! Concurrency limits per user: the maximum number of transactions and of single statements that a user runs in this
//! process.
//!
//! All writes of a user wait for one row lock in any case. A request that waits here instead occupies no connection.
//! More than a few concurrent statements of one user would only slow down other users.

use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::KeyedSemaphores;

/// The limits of all users. All databases of a process share them.
pub struct UserConcurrency {
    /// Limit for transactions of several round trips: one runs and one is ready to follow.
    pub(crate) transactions: UserPermits,
    /// Limit for statements that are their own transaction, nearly all of them reads. They never run inside an open
    /// transaction. Otherwise statements that wait for its locks could use all permits: a deadlock.
    pub(crate) statements: UserPermits,
}

impl Default for UserConcurrency {
    fn default() -> Self {
        Self { transactions: UserPermits(KeyedSemaphores::new(2)), statements: UserPermits(KeyedSemaphores::new(4)) }
    }
}

/// Returns the number of permits that a statement takes, out of four per user. Two concurrent statements of a user keep
/// one processor of a nearby database busy. With a distant database, most of the time is network latency, so a
/// statement takes fewer.
pub(crate) fn permits_of_statement(is_far: bool) -> u32 {
    if is_far { 1 } else { 2 }
}

/// A user, the key for its permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TenantUser {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
}

/// The permits of all users for one kind of work.
pub(crate) struct UserPermits(KeyedSemaphores<TenantUser>);

impl UserPermits {
    /// Waits for a permit of the user, at most `longest`. Returns `None` for work that belongs to the whole tenant.
    pub(crate) async fn take(&self, owner: TenantUser, longest: Duration) -> Result<Option<OwnedSemaphorePermit>> {
        self.take_places(1, owner, longest).await
    }

    /// Waits for `count` of the user's permits, at most `longest`.
    pub(crate) async fn take_places(
        &self,
        count: u32,
        owner: TenantUser,
        longest: Duration,
    ) -> Result<Option<OwnedSemaphorePermit>> {
        if owner.user == UserId::TENANT_WIDE {
            return Ok(None);
        }
        match timeout(longest, self.0.of(owner).acquire_many_owned(count)).await {
            Ok(permit) => permit.map(Some).map_err(Error::internal),
            Err(_) => Err(Error::RateLimited {
                detail: "too many requests of this user are waiting; send fewer in parallel".into(),
                retry_after: 1,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
