//! A queue with slots per user, tenant and process.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::{KeyedSemaphores, Principal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Maximum wait for a slot.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Value of `Retry-After`, in seconds, for a caller who got no slot.
const RETRY_S: u32 = 5;

/// The queue for one kind of intensive work.
pub struct AdmissionQueue {
    what: &'static str,
    at_once: Arc<Semaphore>,
    tenants: KeyedSemaphores<TenantId>,
    users: KeyedSemaphores<(TenantId, UserId)>,
}

/// A slot, released on drop.
pub struct Turn {
    _of_user: OwnedSemaphorePermit,
    _of_tenant: OwnedSemaphorePermit,
    _of_process: OwnedSemaphorePermit,
    /// Whether the caller had to wait for another request of the same user.
    pub(crate) has_waited: bool,
}

impl AdmissionQueue {
    /// Creates a queue for `what`, with `at_once` slots in the process and one per tenant.
    pub(crate) fn new(what: &'static str, at_once: usize) -> Self {
        Self::shared(what, at_once, 1)
    }

    /// Creates a queue with `of_tenant` slots per tenant.
    pub fn shared(what: &'static str, at_once: usize, of_tenant: usize) -> Self {
        Self {
            what,
            at_once: Arc::new(Semaphore::new(at_once)),
            tenants: KeyedSemaphores::new(of_tenant),
            users: KeyedSemaphores::new(1),
        }
    }

    /// Waits for a slot of the caller's user, the tenant and the process, in this order. Must be called before a
    /// transaction begins: otherwise waiting requests of one tenant could occupy all connections.
    ///
    /// # Errors
    /// `RateLimited` after ten seconds without a free slot.
    pub async fn turn(&self, principal: &Principal) -> Result<Turn> {
        self.turn_of(principal.tenant(), principal.user()?).await
    }

    /// Waits for a slot of `user`, for work that an admin requests.
    ///
    /// # Errors
    /// `RateLimited` after ten seconds without a free slot.
    pub(crate) async fn turn_for(&self, principal: &Principal, user: UserId) -> Result<Turn> {
        self.turn_of(principal.tenant(), user).await
    }

    async fn turn_of(&self, tenant: TenantId, user: UserId) -> Result<Turn> {
        let (of_tenant, of_user) = (self.tenants.of(tenant), self.users.of((tenant, user)));
        let all = async {
            let waits = of_user.available_permits() == 0;
            let of_user = of_user.acquire_owned().await.map_err(Error::internal)?;
            let of_tenant = of_tenant.acquire_owned().await.map_err(Error::internal)?;
            let of_process = self.at_once.clone().acquire_owned().await.map_err(Error::internal)?;
            Ok(Turn { _of_user: of_user, _of_tenant: of_tenant, _of_process: of_process, has_waited: waits })
        };
        timeout(LONGEST_WAIT, all).await.unwrap_or_else(|_| {
            let detail =
                format!("too many {} are queued; send fewer in parallel, and try again in a moment", self.what);
            Err(Error::RateLimited { detail, retry_after: RETRY_S })
        })
    }
}

#[cfg(test)]
mod tests;
