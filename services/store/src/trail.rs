//! Where a request came from: its id and the caller's address. Every transaction of the request carries them, so that each
//! entry of the audit log has them by itself.

use std::fmt::Write;
use std::future::Future;
use std::net::IpAddr;

use uuid::Uuid;

/// A request, as the audit log names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trail {
    /// Its id, as in `X-Request-Id`.
    pub request: Uuid,
    /// The address that it comes from.
    pub address: Option<IpAddr>,
}

tokio::task_local! {
    static TRAIL: Trail;
}

/// Does the work of a request; what it begins in tasks of their own is not part of it.
pub async fn follow<F: Future>(trail: Trail, work: F) -> F::Output {
    TRAIL.scope(trail, work).await
}

/// The address of the request that this task works on.
pub(crate) fn address() -> Option<IpAddr> {
    TRAIL.try_with(|trail| trail.address).ok().flatten().map(|address| address.to_canonical())
}

/// Adds it to the statement that begins a transaction. A UUID and an address are all that is formatted in.
pub(crate) fn append_to(begin: &mut String) {
    let _ = TRAIL.try_with(|trail| {
        let address = address().map(|address| address.to_string()).unwrap_or_default();
        write!(begin, "; SET LOCAL app.origin = '{} {address}'", trail.request)
    });
}
