//! Limits CPU- or memory-intensive work. A process runs only a few pieces of work of one kind at a time, and fewer
//! per tenant. Other requests are still served, and no tenant takes all slots. The work runs on threads with a lower
//! priority than requests.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::{KeyedSemaphores, Principal};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Maximum wait for a slot.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Value of `Retry-After`, in seconds, for a caller who got no slot.
const RETRY_S: u32 = 5;

/// Maximum number of threads. It exceeds the slots of all kinds of work together, so that no kind waits for another.
const THREADS: usize = 32;

/// Nice value of these threads, 0 to 19. At 10 a thread gets about a tenth of a CPU that requests use too.
#[cfg(target_os = "linux")]
const YIELDS: i32 = 10;

/// The thread pool; each thread is started on demand.
static POOL: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    let mut threads = Builder::new_current_thread();
    threads.max_blocking_threads(THREADS).thread_name("expensive").on_thread_start(yield_to_requests).build()
});

/// Lowers the priority of this thread, which is used for intensive work only.
fn yield_to_requests() {
    // On Linux the nice value is per thread; on other systems it applies to the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(YIELDS) {
        tracing::warn!(%error, "a thread for intensive work cannot lower its priority");
    }
}

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

/// Runs intensive work, or a part of it, on the low-priority threads. The caller must have a slot.
pub(crate) async fn compute<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let pool = POOL.as_ref().map_err(Error::internal)?;
    pool.spawn_blocking(work).await.map_err(Error::internal)?
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
