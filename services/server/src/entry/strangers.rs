//! Requests without a recognised caller. They have a small share of the process together: eight at once, each followed by a
//! pause, and of one address four at once. A flood of them so waits for itself, whatever it asks for.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result};
use knowhow_store::Places;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::Shared;
use super::client::counted_address;
use super::request_line::is_probe;

/// Requests at once.
const AT_ONCE: usize = 8;
/// Requests at once of one address.
const OF_AN_ADDRESS: usize = 4;
/// The pause after each request: together at most 400 a second.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest wait of a credential that must be looked up.
const LONGEST_OF_LOOK_UP: Duration = Duration::from_secs(10);
/// The longest wait of any other answer.
const LONGEST_OF_ANSWER: Duration = Duration::from_secs(2);
/// The longest wait of a probe, which an orchestrator gives up after a second.
const LONGEST_OF_PROBE: Duration = Duration::from_millis(100);
/// How often a waiting request looks whether another one has made its credential known.
const LOOK: Duration = Duration::from_millis(50);

/// The requests of all threads that have no recognised caller.
pub struct Strangers {
    all: Arc<Semaphore>,
    addresses: Places<Option<IpAddr>>,
}

/// A request among them. When it ends its place stays taken for a pause, unless its caller was recognised.
struct Turn {
    of_all: Option<OwnedSemaphorePermit>,
    _of_address: OwnedSemaphorePermit,
}

/// Notes that a request has a recognised caller.
struct Recognised;

impl Default for Strangers {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(AT_ONCE)), addresses: Places::new(OF_AN_ADDRESS) }
    }
}

impl Strangers {
    /// Waits until the credential of a request may be looked up, or another request has made it known. A place that it takes is its own
    /// until it ends.
    ///
    /// # Errors
    /// `RateLimited` after ten seconds.
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
            detail: "too many requests with unknown credentials are waiting; send fewer at once".into(),
            retry_after: 1,
        })??;
        if let Some(turn) = turn {
            request.extensions_mut().insert(turn);
        }
        Ok(())
    }

    /// Delays the answer to a request until strangers have room for it, but not for long.
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

/// Notes that the caller of a request was recognised, so that it counts among strangers no longer.
pub(super) fn note_recognised(request: &HttpRequest) {
    let mut extensions = request.extensions_mut();
    if let Some(mut turn) = extensions.remove::<Turn>() {
        turn.of_all = None;
    }
    extensions.insert(Recognised);
}

/// Delays the answer to a request whose caller was not recognised until strangers have room for it.
pub async fn pace_strangers<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> std::result::Result<ServiceResponse<B>, actix_web::Error> {
    let response = next.call(request).await?;
    if !response.request().extensions().contains::<Recognised>()
        && let Some(shared) = response.request().app_data::<Data<Shared>>()
    {
        shared.strangers.wait_to_answer(response.request()).await;
    }
    Ok(response)
}
