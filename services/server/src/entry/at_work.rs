//! How many requests of one user are at work in the process: others of that user wait, so that one who sends many at once slows
//! nobody but oneself.

use std::time::Duration;

use actix_web::{HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::{Places, Principal};
use tokio::time::timeout;

/// Requests of one user at work.
const OF_A_USER: usize = 8;

/// The places of all users.
pub struct AtWork {
    users: Places<(TenantId, UserId)>,
    longest: Duration,
}

impl AtWork {
    /// Who has no place waits for one so long at most.
    pub fn new(longest: Duration) -> Self {
        Self { users: Places::new(OF_A_USER), longest }
    }

    /// Takes a place until the request is answered. Who acts for no user needs none.
    ///
    /// # Errors
    /// `RateLimited` after the wait.
    pub(super) async fn begin(&self, request: &HttpRequest, caller: &Principal) -> Result<()> {
        let Ok(user) = caller.user() else { return Ok(()) };
        let places = self.users.of((caller.tenant(), user));
        let place = timeout(self.longest, places.acquire_owned()).await.map_err(|_| Error::RateLimited {
            detail: format!("{OF_A_USER} requests of this user are at work, and others wait; send fewer at once"),
            retry_after: 1,
        })?;
        request.extensions_mut().insert(place.map_err(Error::internal)?);
        Ok(())
    }
}
