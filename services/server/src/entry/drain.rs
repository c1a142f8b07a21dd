//! The time between the signal to stop and the end: the service answers as before, and says that it is going.

use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::dev::ServiceResponse;
use actix_web::http::ConnectionType;
use actix_web::web::Data;

/// Whether the process is going, as all of its threads see it.
#[derive(Default)]
pub struct Drain(AtomicBool);

impl Drain {
    /// From now on the process is going.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is going.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Has clients and load balancers open their next connection elsewhere: the answer is the last one on its connection.
pub(super) fn close_while_draining<B>(response: &mut ServiceResponse<B>) {
    let drain = response.request().app_data::<Data<Drain>>();
    if drain.is_some_and(|drain| drain.has_begun()) {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
}
