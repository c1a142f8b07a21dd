//! Graceful shutdown. While the process drains, it still answers requests but closes each connection afterwards.

use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::dev::ServiceResponse;
use actix_web::http::ConnectionType;
use actix_web::web::Data;

/// Whether the process is shutting down. All threads share this value.
#[derive(Default)]
pub struct Drain(AtomicBool);

impl Drain {
    /// Starts the drain.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the drain has started.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Closes the connection after the response if the process drains. Clients and load balancers then connect to another
/// process.
pub(super) fn close_while_draining<B>(response: &mut ServiceResponse<B>) {
    let drain = response.request().app_data::<Data<Drain>>();
    if drain.is_some_and(|drain| drain.has_begun()) {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
}
