//! The lines of one user: how many transactions, and how many single statements, a user may have at work in this process.
//! All writes of a user wait for one row anyway; here they do so without holding connections that others need. Statements
//! of one user beyond a few would only make those of others wait for a processor.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use moka::sync::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Transactions of several round trips: one at work and one ready behind it.
static TRANSACTIONS: LazyLock<Lines> = LazyLock::new(|| Lines::new(2));
/// Statements that are a transaction of their own, reads nearly all.
static STATEMENTS: LazyLock<Lines> = LazyLock::new(|| Lines::new(4));

/// Waits for a place in the user's line of transactions, at most for so long; `None` for what belongs to no single user.
pub(crate) async fn take(tenant: TenantId, user: UserId, longest: Duration) -> Result<Option<OwnedSemaphorePermit>> {
    TRANSACTIONS.take(tenant, user, longest).await
}

/// Waits for a place in the user's line of single statements, likewise.
pub(crate) async fn take_for_statement(
    tenant: TenantId,
    user: UserId,
    longest: Duration,
) -> Result<Option<OwnedSemaphorePermit>> {
    STATEMENTS.take(tenant, user, longest).await
}

struct Lines {
    of_users: Cache<(TenantId, UserId), Arc<Semaphore>>,
    at_once: usize,
}

impl Lines {
    fn new(at_once: usize) -> Self {
        let of_users = Cache::builder().max_capacity(100_000).time_to_idle(Duration::from_secs(60)).build();
        Self { of_users, at_once }
    }

    async fn take(&self, tenant: TenantId, user: UserId, longest: Duration) -> Result<Option<OwnedSemaphorePermit>> {
        if user == UserId::TENANT_WIDE {
            return Ok(None);
        }
        let line = self.of_users.get_with((tenant, user), || Arc::new(Semaphore::new(self.at_once)));
        match tokio::time::timeout(longest, line.acquire_owned()).await {
            Ok(permit) => permit.map(Some).map_err(Error::internal),
            Err(_) => Err(Error::RateLimited {
                detail: "too many requests for this user are waiting; send fewer at once".into(),
                retry_after: 1,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use knowhow_domain::new_id;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn a_third_waits_until_one_of_two_is_done_and_others_do_not() {
        let (tenant, user) = (TenantId(new_id()), UserId(new_id()));
        let first = take(tenant, user, LONG).await.unwrap();
        let _second = take(tenant, user, LONG).await.unwrap();
        let mut third = Box::pin(take(tenant, user, LONG));
        assert!(third.as_mut().now_or_never().is_none());
        assert!(take(tenant, UserId(new_id()), LONG).await.unwrap().is_some());
        drop(first);
        assert!(third.await.unwrap().is_some());
    }

    #[tokio::test]
    async fn four_statements_go_beside_two_transactions() {
        let (tenant, user) = (TenantId(new_id()), UserId(new_id()));
        let _transactions = (take(tenant, user, LONG).await.unwrap(), take(tenant, user, LONG).await.unwrap());
        let mut statements = Vec::new();
        for _ in 0..4 {
            statements.push(take_for_statement(tenant, user, LONG).await.unwrap());
        }
        let mut fifth = Box::pin(take_for_statement(tenant, user, LONG));
        assert!(fifth.as_mut().now_or_never().is_none());
        statements.pop();
        assert!(fifth.await.unwrap().is_some());
    }

    #[tokio::test]
    async fn what_belongs_to_the_tenant_waits_for_nobody() {
        assert!(take(TenantId(new_id()), UserId::TENANT_WIDE, LONG).await.unwrap().is_none());
    }
}
