//! The line of one user: how many transactions a user may have open in this process. All writes of a user wait for one
//! row anyway; here they do so without holding connections that others need.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use moka::sync::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// One at work and one ready behind it.
const AT_ONCE: usize = 2;

static LINES: LazyLock<Cache<(TenantId, UserId), Arc<Semaphore>>> =
    LazyLock::new(|| Cache::builder().max_capacity(100_000).time_to_idle(Duration::from_secs(60)).build());

/// Waits for a place in the user's line, at most for so long; `None` for what belongs to no single user.
pub(crate) async fn take(tenant: TenantId, user: UserId, longest: Duration) -> Result<Option<OwnedSemaphorePermit>> {
    if user == UserId::TENANT_WIDE {
        return Ok(None);
    }
    let line = LINES.get_with((tenant, user), || Arc::new(Semaphore::new(AT_ONCE)));
    match tokio::time::timeout(longest, line.acquire_owned()).await {
        Ok(permit) => permit.map(Some).map_err(Error::internal),
        Err(_) => Err(Error::RateLimited {
            detail: "too many requests for this user are waiting; send fewer at once".into(),
            retry_after: 1,
        }),
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
    async fn what_belongs_to_the_tenant_waits_for_nobody() {
        assert!(take(TenantId(new_id()), UserId::TENANT_WIDE, LONG).await.unwrap().is_none());
    }
}
