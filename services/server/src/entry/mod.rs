//! What all faces share: who sends a request, what it carries, and the id that it has. Refusals are errors of the domain, so
//! that each face says them in its own form.

mod at_work;
mod bodies;
mod body;
mod client;
mod credential;
mod drain;
mod need;
mod query_token;
mod rates;
mod request_id;
mod request_line;
mod shared_rates;
mod standing;
mod strangers;
mod urgency;

pub use at_work::{AtWork, begin_work};
pub use bodies::{Bodies, Lease};
pub use body::{JSON_BYTES, announce, check_media_type, in_time, parse, read as read_body, read_query};
pub use client::{Proxies, client_of};
pub use credential::{Entry, Refusals, admit_user, check_headers, enter, read_call};
pub use drain::Drain;
pub use need::Need;
pub use query_token::{HINT, has_token, refuse_tokens, resembles_token};
pub use rates::{Defaults, Rates};
pub use request_id::{current as current_request_id, identify, note, note_caller};
pub use request_line::REQUESTS;
pub use shared_rates::{Redis, SharedRates};
pub use strangers::{Strangers, pace_strangers};

use std::time::Duration;

/// What the requests of all threads share beside the gate.
pub struct Shared {
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// Whose word counts for where a request comes from.
    pub proxies: Proxies,
    /// Wrong credentials by address.
    pub refusals: Refusals,
    pub bodies: Bodies,
    pub rates: Rates,
    /// Requests without a recognised caller.
    pub strangers: Strangers,
    /// Requests of one user at once.
    pub at_work: AtWork,
}
