//! Id, client address and urgency of a request. Every transaction of the request carries id and address, for its
//! audit entries.

use std::cell::Cell;
use std::fmt::Write;
use std::future::Future;
use std::net::IpAddr;

use knowhow_telemetry::trace;
use uuid::Uuid;

/// Origin and urgency of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trail {
    /// Request id, as in `X-Request-Id`.
    pub request: Uuid,
    /// Client address; `None` if it is unknown.
    pub address: Option<IpAddr>,
    /// Priority of the request under overload.
    pub urgency: Urgency,
}

/// Urgency under overload, in ascending order: less urgent requests are served later and rejected first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Export and import.
    Exchange,
    /// Requests of admins and of people viewing their skills.
    Admin,
    /// Search.
    Search,
    /// Reads and changes of single items.
    Save,
    /// Jobs and background work, not a request.
    Work,
    /// Turns and snapshots: a person waits for the agent's answer.
    Turn,
    /// A request that already ran a statement. Such requests are finished before new ones start.
    Begun,
}

impl Urgency {
    /// Returns whether the admission queue's limits apply to this urgency.
    pub(crate) fn is_bounded(self) -> bool {
        !matches!(self, Self::Work | Self::Begun)
    }
}

struct Followed {
    trail: Trail,
    has_begun: Cell<bool>,
}

tokio::task_local! {
    static TRAIL: Followed;
}

/// Runs the work of a request with this trail. Tasks spawned by `work` do not have the trail unless they use
/// [`carry`].
pub async fn follow<F: Future>(trail: Trail, work: F) -> F::Output {
    TRAIL.scope(Followed { trail, has_begun: Cell::new(false) }, work).await
}

/// Gives a spawned task the context of the current request. Use it only if the request awaits the task.
pub fn carry<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let followed = TRAIL.try_with(|now| Followed { trail: now.trail, has_begun: now.has_begun.clone() }).ok();
    async move {
        match followed {
            Some(followed) => TRAIL.scope(followed, work).await,
            None => work.await,
        }
    }
}

/// Returns the client address of the current request.
pub(crate) fn address() -> Option<IpAddr> {
    TRAIL.try_with(|followed| followed.trail.address).ok().flatten().map(|address| address.to_canonical())
}

/// Returns the urgency of the current work.
pub(crate) fn urgency() -> Urgency {
    let urgency = |followed: &Followed| if followed.has_begun.get() { Urgency::Begun } else { followed.trail.urgency };
    TRAIL.try_with(urgency).unwrap_or(Urgency::Work)
}

/// Records that the current request has got a connection.
pub(crate) fn note_begun() {
    let _ = TRAIL.try_with(|followed| followed.has_begun.set(true));
}

/// Adds the origin of the request to the statement that begins a transaction. Also adds the trace if it is recorded,
/// so that enqueued jobs are linked with it. Only a UUID, an address and hexadecimal numbers are interpolated.
pub(crate) fn append_to(begin: &mut String) {
    if let Some(traceparent) = trace::sampled_traceparent() {
        let _ = write!(begin, "; SET LOCAL app.trace = '{traceparent}'");
    }
    let _ = TRAIL.try_with(|Followed { trail, .. }| {
        let address = address().map(|address| address.to_string()).unwrap_or_default();
        write!(begin, "; SET LOCAL app.origin = '{} {address}'", trail.request)
    });
}
