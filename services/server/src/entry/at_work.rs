//! How many requests of one user are at work in the process: others of that user wait, so that one who sends many at once slows
//! nobody but oneself.

use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::{Places, Principal};
use tokio::time::timeout;

use super::Shared;
use super::body::Arrival;

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

    async fn take(&self, request: &HttpRequest, tenant: TenantId, user: UserId) -> Result<()> {
        let places = self.users.of((tenant, user));
        let place = timeout(self.longest, places.acquire_owned()).await.map_err(|_| Error::RateLimited {
            detail: format!("{OF_A_USER} requests of this user are at work, and others wait; send fewer at once"),
            retry_after: 1,
        })?;
        request.extensions_mut().insert(place.map_err(Error::internal)?);
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
    shared.at_work.take(request, caller.tenant(), user).await
}
