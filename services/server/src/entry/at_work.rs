//! How many requests are at work in the process: of one user, and of those with a large body of one tenant. Others wait before
//! anything is done for them, so that a flood slows its own sender alone.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_ops::Line;
use knowhow_store::{Places, Principal};
use tokio::time::timeout;

use super::Shared;
use super::body::{Arrival, BodyBytes};

/// Requests of one user at work.
const OF_A_USER: usize = 8;

/// The longest wait for a place.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A body of more bytes is large: reading, checking and storing it takes a processor for some milliseconds.
const LARGE: usize = 32 * 1024;

/// The places of all users.
pub struct AtWork {
    users: Places<(TenantId, UserId)>,
    large: Line,
}

impl Default for AtWork {
    fn default() -> Self {
        // As many as there are processors; of one tenant half of them, so that others find one free.
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        let large = Line::shared("large requests of this tenant", processors, processors.div_ceil(2));
        Self { users: Places::new(OF_A_USER), large }
    }
}

impl AtWork {
    async fn take(&self, request: &HttpRequest, caller: &Principal, user: UserId) -> Result<()> {
        let places = self.users.of((caller.tenant(), user));
        let place = timeout(LONGEST_WAIT, places.acquire_owned()).await.map_err(|_| Error::RateLimited {
            detail: format!("{OF_A_USER} requests of this user are at work, and others wait; send fewer at once"),
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

/// Takes a place of the caller's until the request is answered, once its body has come: one that is half sent keeps nobody from
/// work. Who acts for no user needs none.
///
/// # Errors
/// `RateLimited` after the wait.
pub async fn begin_work(request: &HttpRequest, caller: &Principal) -> Result<()> {
    let Ok(user) = caller.user() else { return Ok(()) };
    let shared = request.app_data::<Data<Shared>>().ok_or_else(|| Error::internal("no shared state"))?;
    Arrival::of(request).await;
    shared.at_work.take(request, caller, user).await
}
