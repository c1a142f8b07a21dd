//! Limits CPU- or memory-intensive work. A process runs only a few pieces of work of one kind at a time, and fewer
//! per tenant. Other requests are still served, and no tenant takes all slots. The work runs on threads with a lower
//! priority than requests.

mod queue;
mod threads;

use std::sync::{Arc, LazyLock};

use knowhow_domain::Result;
use knowhow_store::Principal;
use tokio::sync::Semaphore;

pub use queue::{AdmissionQueue, Turn};
pub(crate) use threads::compute;

/// A queue that is created at its first use, as an unused queue need not take memory.
type LazyQueue = LazyLock<AdmissionQueue>;

/// The queues and slots of all kinds of intensive work; shared by the process.
pub struct Admission {
    /// Patches of many edits.
    pub(crate) patches: LazyQueue,
    /// Comparisons of versions.
    pub(crate) comparisons: LazyQueue,
    /// Imports, which hold their files in memory several times.
    pub(crate) large_imports: LazyQueue,
    /// Exports that are sent in pieces. Each uses at most 3 MiB: one piece, both plain and packed, and one chunk.
    pub(crate) large_exports: LazyQueue,
    /// Exports of a single piece. They have a separate queue, so that they do not wait for large exports.
    pub(crate) small_exports: LazyQueue,
    /// Exports of all data of a user. Each occupies a connection and a transaction while its client downloads.
    pub(crate) user_exports: LazyQueue,
    /// Searches for long messages in large catalogues.
    pub(crate) searches: LazyQueue,
    /// Questions to many memories. Each takes some milliseconds of processor time, both here and in the database.
    pub(crate) memory_searches: LazyQueue,
    /// Reads of graphs.
    pub(crate) graphs: LazyQueue,
    /// Analyses of uses. Postgres may read 100,000 rows for each.
    pub(crate) analyses: LazyQueue,
    /// Renderings of snapshots and indexes. The users of a tenant may start their day at the same time.
    pub(crate) snapshots: LazyQueue,
    /// Requests that search for candidates of dreams.
    pub(crate) dream_candidates: LazyQueue,
    /// Slots of queued lessons; further lessons are dropped. A lesson that is dropped, or lost when the process stops,
    /// is learned at the next use of the skill.
    pub(crate) queued_lessons: Arc<Semaphore>,
    /// Slots of lessons that are being learned. There are few, because requests need the connections.
    pub(crate) running_lessons: Semaphore,
}

impl Admission {
    /// Compares texts on the low-priority threads, after waiting for a slot of the caller's tenant.
    ///
    /// # Errors
    /// `RateLimited` if too many comparisons are queued, or the error of `work`.
    pub async fn compare<T: Send + 'static>(
        &self,
        caller: &Principal,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _turn = self.comparisons.turn(caller).await?;
        compute(work).await
    }

    /// Lays out a graph on the low-priority threads, after waiting for a slot of the caller.
    ///
    /// # Errors
    /// `RateLimited` if too many requests for graphs are queued, or the error of `work`.
    pub async fn lay_out<T: Send + 'static>(
        &self,
        caller: &Principal,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _turn = self.graphs.turn(caller).await?;
        compute(work).await
    }
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            patches: LazyLock::new(|| AdmissionQueue::new("patches of many edits of this tenant", 2)),
            comparisons: LazyLock::new(|| AdmissionQueue::new("comparisons of this tenant's versions", 2)),
            large_imports: LazyLock::new(|| AdmissionQueue::new("large imports of this tenant", 2)),
            large_exports: LazyLock::new(|| AdmissionQueue::new("exports of this tenant", 6)),
            small_exports: LazyLock::new(|| AdmissionQueue::new("exports of this tenant", 4)),
            user_exports: LazyLock::new(|| AdmissionQueue::new("user exports of this tenant", 2)),
            searches: LazyLock::new(|| AdmissionQueue::new("long messages to large libraries of this tenant", 2)),
            memory_searches: LazyLock::new(|| AdmissionQueue::new("questions to many memories of this tenant", 2)),
            graphs: LazyLock::new(|| AdmissionQueue::shared("graphs of this tenant", 4, 2)),
            analyses: LazyLock::new(|| AdmissionQueue::new("analyses of this tenant", 2)),
            snapshots: LazyLock::new(|| AdmissionQueue::shared("snapshots and indexes of this tenant", 8, 4)),
            dream_candidates: LazyLock::new(|| {
                AdmissionQueue::new("searches for candidates of this tenant's dreams", 2)
            }),
            queued_lessons: Arc::new(Semaphore::new(1000)),
            running_lessons: Semaphore::new(2),
        }
    }
}
