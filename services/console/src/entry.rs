//! The checks that the server makes before the console answers a request. REST has the same limits.

use std::future::Future;
use std::pin::Pin;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::web::Bytes;
use knowhow_domain::Result;
use knowhow_ops::Ctx;
use knowhow_store::{Bearer, ConsoleSession};

use crate::SessionCookie;

/// Result of a check that waits for the database or for a free slot.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + 'a>>;

/// A pasted credential.
pub struct Credential<'a> {
    /// A JWT or an API key.
    pub token: &'a str,
    /// External id of the user that an API key acts for.
    pub user: Option<&'a str>,
}

/// Checks of a request, made by the server.
pub trait Entry {
    /// Verifies a pasted credential. A wrong one counts as a wrong credential of the client's address.
    fn verify<'a>(&'a self, request: &'a HttpRequest, credential: Credential<'a>) -> Pending<'a, Bearer>;

    /// Finds the session of a cookie, and counts the request against the caller's rate limits.
    fn resume<'a>(&'a self, request: &'a HttpRequest, cookie: &'a SessionCookie) -> Pending<'a, ConsoleSession>;

    /// Returns the context of the caller's user, after waiting for one of the user's slots.
    fn admit<'a>(&'a self, request: &'a HttpRequest, bearer: Bearer) -> Pending<'a, Ctx>;

    /// Reads the body of a form, of at most `limit` bytes.
    fn read_form(&self, request: &HttpRequest, payload: Payload, limit: usize) -> Pending<'static, Bytes>;

    /// Counts a request without a session against the limit of the client's address.
    fn count_stranger(&self, request: &HttpRequest) -> Result<()>;
}
