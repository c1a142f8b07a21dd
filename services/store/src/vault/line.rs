//! The lines of one user: how many transactions, and how many single statements, a user may have at work in this process.
//! All writes of a user wait for one row anyway; here they do so without holding connections that others need. Statements
//! of one user beyond a few would only make those of others wait for a processor.

use std::sync::LazyLock;
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::Places;

/// Transactions of several round trips: one at work and one ready behind it.
pub(crate) static TRANSACTIONS: LazyLock<Line> = LazyLock::new(|| Line(Places::new(2)));
/// Statements that are a transaction of their own, reads nearly all. Within an open transaction nobody runs one: those that
/// wait for its locks may have all the places.
pub(crate) static STATEMENTS: LazyLock<Line> = LazyLock::new(|| Line(Places::new(4)));

/// Places that a statement takes: two statements of a user keep a processor of a database nearby busy. Of one far away, most
/// of the time is the network's.
pub(crate) fn places_of_a_statement(is_far: bool) -> u32 {
    if is_far { 1 } else { 2 }
}

/// The lines of all users for one kind of work.
pub(crate) struct Line(Places<(TenantId, UserId)>);

impl Line {
    /// Waits for a place in the user's line, at most for so long; `None` for what belongs to no single user.
    pub(crate) async fn take(
        &self,
        tenant: TenantId,
        user: UserId,
        longest: Duration,
    ) -> Result<Option<OwnedSemaphorePermit>> {
        self.take_places(1, (tenant, user), longest).await
    }

    /// Waits for so many places likewise.
    pub(crate) async fn take_places(
        &self,
        count: u32,
        (tenant, user): (TenantId, UserId),
        longest: Duration,
    ) -> Result<Option<OwnedSemaphorePermit>> {
        if user == UserId::TENANT_WIDE {
            return Ok(None);
        }
        match timeout(longest, self.0.of((tenant, user)).acquire_many_owned(count)).await {
            Ok(permit) => permit.map(Some).map_err(Error::internal),
            Err(_) => Err(Error::RateLimited {
                detail: "too many requests for this user are waiting; send fewer at once".into(),
                retry_after: 1,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
