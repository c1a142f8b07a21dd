//! Code that REST and MCP share: authentication, reading requests, limits and request ids. Its functions return domain
//! errors, which each API renders in its own format.

mod bodies;
mod body;
mod client;
mod concurrency;
mod credential;
mod drain;
mod query_token;
mod rate_headers;
mod rates;
mod request_id;
mod request_line;
mod requirements;
mod shared_rates;
mod unauthenticated;
mod urgency;

pub use bodies::{Bodies, Lease};
pub use body::{JSON_BYTES, announce, check_media_type, in_time, parse, read as read_body, read_query};
pub use client::{Proxies, client_of};
pub use concurrency::{ConcurrencyLimits, begin_work};
pub use credential::{
    AuthenticatedRequest, Refusals, Viewed, admit_user, check_headers, enter, read_call, verify_console_session,
    verify_credential,
};
pub use drain::Drain;
pub use query_token::{HINT, has_token, refuse_tokens, resembles_token};
pub use rates::{Defaults, Rates};
pub use request_id::{current as current_request_id, identify, note, note_caller};
pub use request_line::REQUESTS;
pub use requirements::Requirements;
pub use shared_rates::{Redis, SharedRates};
pub use unauthenticated::{UnauthenticatedLimits, limit_unauthenticated};

use std::time::Duration;

/// State for handling requests that all threads share.
pub struct SharedState {
    /// Maximum time until a body is received.
    pub body_timeout: Duration,
    /// Proxies that are trusted to state the client's address.
    pub proxies: Proxies,
    /// Counters of wrong credentials, by client address.
    pub refusals: Refusals,
    pub bodies: Bodies,
    pub rates: Rates,
    /// Limits on requests without an authenticated caller.
    pub unauthenticated_limits: UnauthenticatedLimits,
    /// Limits on concurrent requests.
    pub concurrency_limits: ConcurrencyLimits,
}
