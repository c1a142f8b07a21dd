//! Limits requests without an authenticated caller: at most eight at once, four of them per address. A pause follows
//! each request. A flood of such requests therefore delays only these requests.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result};
use knowhow_store::KeyedSemaphores;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::SharedState;
use super::client::counted_address;
use super::request_line::is_probe;

/// Maximum number of unauthenticated requests at once.
const AT_ONCE: usize = 8;
/// Maximum number of unauthenticated requests from one address at once.
const OF_AN_ADDRESS: usize = 4;
/// Pause after each request, during which its slot stays occupied. It limits all unauthenticated requests to 400 per
/// second.
const PAUSE: Duration = Duration::from_millis(20);
/// Maximum wait for a slot to look up a credential.
const LONGEST_OF_LOOK_UP: Duration = Duration::from_secs(10);
/// Maximum wait for a slot before the response is sent without one.
const LONGEST_OF_ANSWER: Duration = Duration::from_secs(2);
/// Maximum wait for a slot in a health check, because orchestrators give up after a second.
const LONGEST_OF_PROBE: Duration = Duration::from_millis(100);
/// Interval at which a waiting request checks whether another request has looked up the same credential.
const LOOK: Duration = Duration::from_millis(50);

/// The slots for unauthenticated requests, shared by all threads.
pub struct UnauthenticatedLimits {
    all: Arc<Semaphore>,
    addresses: KeyedSemaphores<Option<IpAddr>>,
}

/// The slots that a request occupies. The shared slot stays occupied for the pause after the request, unless the caller
/// was authenticated.
struct Turn {
    of_all: Option<OwnedSemaphorePermit>,
    _of_address: OwnedSemaphorePermit,
}

/// Mark on a request with an authenticated caller.
struct Recognised;

impl Default for UnauthenticatedLimits {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(AT_ONCE)), addresses: KeyedSemaphores::new(OF_AN_ADDRESS) }
    }
}

impl UnauthenticatedLimits {
    /// Waits until there is a slot for looking up the credential of a request, or until another request has looked up
    /// the same credential. The request keeps its slot until it ends.
    ///
    /// # Errors
    /// `RateLimited` if there is no slot within ten seconds.
    pub(super) async fn wait_to_look_up(&self, request: &HttpRequest, is_known: impl Fn() -> bool) -> Result<()> {
        let known = async {
            while !is_known() {
                sleep(LOOK).await;
            }
        };
        let turn = async {
            tokio::select! {
                biased;
                () = known => Ok(None),
                turn = self.turn(counted_address(request)) => turn.map(Some),
            }
        };
        let turn = timeout(LONGEST_OF_LOOK_UP, turn).await.map_err(|_| Error::RateLimited {
            detail: "too many requests with unknown credentials are waiting; send fewer in parallel".into(),
            retry_after: 1,
        })??;
        if let Some(turn) = turn {
            request.extensions_mut().insert(turn);
        }
        Ok(())
    }

    /// Waits briefly for a slot before a response is sent.
    async fn wait_to_answer(&self, request: &HttpRequest) {
        if request.extensions().contains::<Turn>() {
            return;
        }
        let longest = if is_probe(request.path()) { LONGEST_OF_PROBE } else { LONGEST_OF_ANSWER };
        if let Ok(Ok(turn)) = timeout(longest, self.turn(counted_address(request))).await {
            request.extensions_mut().insert(turn);
        }
    }

    async fn turn(&self, address: Option<IpAddr>) -> Result<Turn> {
        let of_address = self.addresses.of(address).acquire_owned().await.map_err(Error::internal)?;
        let of_all = self.all.clone().acquire_owned().await.map_err(Error::internal)?;
        Ok(Turn { of_all: Some(of_all), _of_address: of_address })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let (Some(place), Ok(runtime)) = (self.of_all.take(), Handle::try_current()) {
            runtime.spawn(async move {
                sleep(PAUSE).await;
                drop(place);
            });
        }
    }
}

/// Marks a request as authenticated, and frees its shared slot immediately.
pub(super) fn note_recognised(request: &HttpRequest) {
    let mut extensions = request.extensions_mut();
    if let Some(mut turn) = extensions.remove::<Turn>() {
        turn.of_all = None;
    }
    extensions.insert(Recognised);
}

/// Delays the response to an unauthenticated request until there is a slot, or until the maximum wait is over.
pub async fn limit_unauthenticated<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> std::result::Result<ServiceResponse<B>, actix_web::Error> {
    let response = next.call(request).await?;
    if !response.request().extensions().contains::<Recognised>()
        && let Some(shared) = response.request().app_data::<Data<SharedState>>()
    {
        shared.unauthenticated_limits.wait_to_answer(response.request()).await;
    }
    Ok(response)
}
