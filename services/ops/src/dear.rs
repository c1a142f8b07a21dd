//! Dear work: what takes a processor or much memory for a while. A process does a few pieces of one kind at a time, and
//! fewer for each tenant, so that the rest of the machine goes on serving and no tenant takes all turns. It runs on threads
//! that are less urgent than those that answer requests.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::{Places, Principal};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Longest wait for a turn.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Seconds after which a caller who waited in vain tries again.
const RETRY_S: u32 = 5;

/// More than there are turns of all kinds at once, so that no kind waits for another.
const THREADS: usize = 32;

/// How much less urgent dear work is than requests, from 0 to 19: at 10 it has a tenth of a processor that both want.
#[cfg(target_os = "linux")]
const YIELDS: i32 = 10;

/// The threads of dear work, each started when it is needed.
static POOL: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    let mut threads = Builder::new_current_thread();
    threads.max_blocking_threads(THREADS).thread_name("dear").on_thread_start(yield_to_requests).build()
});

/// Makes this thread, which does nothing else from now on, less urgent than those that answer requests.
fn yield_to_requests() {
    // Linux keeps this for each thread. Elsewhere it would be the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(YIELDS) {
        tracing::warn!(%error, "a thread for dear work does not yield to requests");
    }
}

/// The line before one kind of dear work.
pub struct Line {
    what: &'static str,
    at_once: Arc<Semaphore>,
    tenants: Places<TenantId>,
    users: Places<(TenantId, UserId)>,
}

/// A turn, over when it is dropped.
pub struct Turn {
    _of_user: OwnedSemaphorePermit,
    _of_tenant: OwnedSemaphorePermit,
    _of_process: OwnedSemaphorePermit,
    /// Whether another one of the same user was first.
    pub(crate) has_waited: bool,
}

/// Does dear work, or a part of it, on the threads for it. Whoever calls this has a turn.
pub(crate) async fn compute<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let pool = POOL.as_ref().map_err(Error::internal)?;
    pool.spawn_blocking(work).await.map_err(Error::internal)?
}

impl Line {
    /// A line for `what`, of which the process does `at_once`.
    pub(crate) fn new(what: &'static str, at_once: usize) -> Self {
        Self::shared(what, at_once, 1)
    }

    /// The same, with `of_tenant` of them for each tenant.
    pub fn shared(what: &'static str, at_once: usize, of_tenant: usize) -> Self {
        Self {
            what,
            at_once: Arc::new(Semaphore::new(at_once)),
            tenants: Places::new(of_tenant),
            users: Places::new(1),
        }
    }

    /// Waits for the turn of the caller's user, of the tenant and then of the process. Ask before a transaction begins: those
    /// that wait would hold its connection, and a tenant's users so all of them.
    ///
    /// # Errors
    /// `RateLimited` after ten seconds: others of the tenant, or of the process, were first all the while.
    pub async fn turn(&self, principal: &Principal) -> Result<Turn> {
        self.turn_of(principal.tenant(), principal.user()?).await
    }

    /// The same for what an admin has done for a user.
    ///
    /// # Errors
    /// `RateLimited` where too many wait.
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
            let detail = format!("too many {} are waiting; send fewer at once, and try again in a moment", self.what);
            Err(Error::RateLimited { detail, retry_after: RETRY_S })
        })
    }
}

#[cfg(test)]
mod tests;
