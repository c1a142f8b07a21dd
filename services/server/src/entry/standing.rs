//! What an answer says of the caller's rate: the limit that is nearest, in the headers of the IETF's draft
//! (draft-ietf-httpapi-ratelimit-headers, 03 to 06).

use actix_web::body::MessageBody;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest};

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// How near the caller of a request is to the nearest of its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Nearest {
    /// Requests a second.
    rate: u32,
    /// How many seconds' worth of them may come at once.
    burst: u32,
    remaining: u32,
}

impl Nearest {
    fn limit(self) -> u32 {
        self.rate * self.burst
    }

    /// Seconds until all of the limit is there again.
    fn reset(self) -> u32 {
        (self.limit() - self.remaining.min(self.limit())).div_ceil(self.rate)
    }
}

/// Where the limits of one request are noted.
pub(super) struct Standing<'r> {
    request: &'r HttpRequest,
    nearest: Option<Nearest>,
}

impl<'r> Standing<'r> {
    pub(super) fn new(request: &'r HttpRequest) -> Self {
        Self { request, nearest: None }
    }

    /// A limit of so many seconds' worth of a rate, and what is left of it.
    pub(super) fn note(&mut self, rate: u32, burst: u32, remaining: u32) {
        if self.nearest.is_none_or(|nearest| remaining < nearest.remaining) {
            self.nearest = Some(Nearest { rate, burst, remaining });
        }
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        if let Some(nearest) = self.nearest {
            self.request.extensions_mut().insert(nearest);
        }
    }
}

/// Adds the headers to an answer. One that says already when to come back says so of something else, such as a quota.
pub(super) fn tell<B: MessageBody>(response: &mut ServiceResponse<B>) {
    let nearest = response.request().extensions().get::<Nearest>().copied();
    let Some(nearest) = nearest else { return };
    let headers = response.headers_mut();
    if nearest.remaining > 0 && headers.contains_key(&REMAINING) {
        return;
    }
    headers.insert(LIMIT, nearest.limit().into());
    headers.insert(REMAINING, nearest.remaining.into());
    headers.insert(RESET, nearest.reset().into());
    if let Ok(policy) = HeaderValue::from_str(&format!("{};w={}", nearest.limit(), nearest.burst)) {
        headers.insert(POLICY, policy);
    }
}
