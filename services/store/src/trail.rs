//! Where a request came from: its id and the caller's address. Every transaction of the request carries them, so that each
//! entry of the audit log has them by itself.

use std::cell::Cell;
use std::fmt::Write;
use std::future::Future;
use std::net::IpAddr;

use knowhow_telemetry::trace;
use uuid::Uuid;

/// A request, as the audit log names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trail {
    /// Its id, as in `X-Request-Id`.
    pub request: Uuid,
    /// The address that it comes from.
    pub address: Option<IpAddr>,
    /// How much the people who wait for it need it.
    pub urgency: Urgency,
}

/// What is served before what, and refused after it, where not all can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Export and import.
    Exchange,
    /// What admins and people who look at their skills ask.
    Admin,
    /// Search.
    Search,
    /// What changes or reads one thing.
    Save,
    /// No request: jobs, and what follows from a request.
    Work,
    /// Turns and snapshots: a person waits for an agent's next word.
    Turn,
    /// A request that has had a connection already, and is finished before others begin.
    Begun,
}

impl Urgency {
    /// Whether it waits only as long as the waiting room lets a newcomer wait.
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

/// Does the work of a request; what it begins in tasks of their own is not part of it.
pub async fn follow<F: Future>(trail: Trail, work: F) -> F::Output {
    TRAIL.scope(Followed { trail, has_begun: Cell::new(false) }, work).await
}

/// Makes a task's work part of the request that begins and awaits it.
pub fn carry<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let followed = TRAIL.try_with(|now| Followed { trail: now.trail, has_begun: now.has_begun.clone() }).ok();
    async move {
        match followed {
            Some(followed) => TRAIL.scope(followed, work).await,
            None => work.await,
        }
    }
}

/// The address of the request that this task works on.
pub(crate) fn address() -> Option<IpAddr> {
    TRAIL.try_with(|followed| followed.trail.address).ok().flatten().map(|address| address.to_canonical())
}

/// How urgent it is what this task works on.
pub(crate) fn urgency() -> Urgency {
    let urgency = |followed: &Followed| if followed.has_begun.get() { Urgency::Begun } else { followed.trail.urgency };
    TRAIL.try_with(urgency).unwrap_or(Urgency::Work)
}

/// The request that this task works on has had a connection.
pub(crate) fn note_begun() {
    let _ = TRAIL.try_with(|followed| followed.has_begun.set(true));
}

/// Adds it to the statement that begins a transaction, with the trace, where that is recorded: jobs that are enqueued are linked
/// with it. A UUID, an address and hexadecimal numbers are all that is formatted in.
pub(crate) fn append_to(begin: &mut String) {
    if let Some(traceparent) = trace::sampled_traceparent() {
        let _ = write!(begin, "; SET LOCAL app.trace = '{traceparent}'");
    }
    let _ = TRAIL.try_with(|Followed { trail, .. }| {
        let address = address().map(|address| address.to_string()).unwrap_or_default();
        write!(begin, "; SET LOCAL app.origin = '{} {address}'", trail.request)
    });
}
