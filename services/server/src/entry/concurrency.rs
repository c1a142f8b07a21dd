//! Limits the concurrent requests per user, and the concurrent requests with large bodies per tenant. Further requests
//! wait before any work is done for them, so that a flood of requests slows down only its sender.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_ops::AdmissionQueue;
use knowhow_store::{KeyedSemaphores, Principal};
use tokio::time::timeout;

use super::SharedState;
use super::body::{Arrival, BodyBytes};

/// Maximum number of concurrent requests per user.
const OF_A_USER: usize = 8;

/// Maximum wait, after which a request is rejected.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Minimum size in bytes of a body that is limited separately: reading, checking and storing a large body takes several
/// milliseconds of CPU.
const LARGE: usize = 32 * 1024;

/// The concurrency limits for all users.
pub struct ConcurrencyLimits {
    users: KeyedSemaphores<(TenantId, UserId)>,
    large: AdmissionQueue,
}

impl Default for ConcurrencyLimits {
    fn default() -> Self {
        // There is a slot for each core. One tenant gets at most half of them, so that requests from other tenants find
        // a free slot.
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        let large = AdmissionQueue::shared("large requests of this tenant", processors, processors.div_ceil(2));
        Self { users: KeyedSemaphores::new(OF_A_USER), large }
    }
}

impl ConcurrencyLimits {
    async fn take(&self, request: &HttpRequest, caller: &Principal, user: UserId) -> Result<()> {
        let places = self.users.of((caller.tenant(), user));
        let place = timeout(LONGEST_WAIT, places.acquire_owned()).await.map_err(|_| Error::RateLimited {
            detail: format!("this user already has {OF_A_USER} requests in progress; send fewer in parallel"),
            retry_after: 1,
        })?;
        request.extensions_mut().insert(place.map_err(Error::internal)?);
        let is_large = request.extensions().get::<BodyBytes>().is_some_and(|BodyBytes(bytes)| *bytes > LARGE);
        if is_large {
            let turn = self.large.turn(caller).await?;
            request.extensions_mut().insert(turn);
        }
        Ok(())
    }
}

/// Waits until the body is read and one of the user's slots is free. The request keeps the slot until it is answered.
/// While the body is still being sent, the request occupies no slot. A caller without a user needs no slot.
///
/// # Errors
/// `RateLimited` if the wait is too long.
pub async fn begin_work(request: &HttpRequest, caller: &Principal) -> Result<()> {
    let Ok(user) = caller.user() else { return Ok(()) };
    let shared = request.app_data::<Data<SharedState>>().ok_or_else(|| Error::internal("no shared state"))?;
    Arrival::of(request).await;
    shared.concurrency_limits.take(request, caller, user).await
}
