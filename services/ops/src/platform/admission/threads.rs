//! The threads for intensive work. They have a lower priority than requests.

use std::sync::LazyLock;

use knowhow_domain::{Error, Result};
use tokio::runtime::{Builder, Runtime};

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

/// Runs intensive work, or a part of it, on the low-priority threads. The caller must have a slot.
pub(crate) async fn compute<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let pool = POOL.as_ref().map_err(Error::internal)?;
    pool.spawn_blocking(work).await.map_err(Error::internal)?
}

#[cfg(test)]
mod tests;
