//! Adds response headers with the caller's tightest rate limit, as defined in the IETF draft
//! draft-ietf-httpapi-ratelimit-headers, versions 03 to 06.

use actix_web::body::MessageBody;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest};

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The caller's rate limit with the fewest remaining requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TightestLimit {
    /// Rate in requests per second.
    rate: u32,
    /// Burst size: the number of seconds' worth of requests that may come at once.
    burst: u32,
    remaining: u32,
}

impl TightestLimit {
    fn limit(self) -> u32 {
        self.rate * self.burst
    }

    /// Returns the number of seconds until the full burst is available again.
    fn reset(self) -> u32 {
        (self.limit() - self.remaining.min(self.limit())).div_ceil(self.rate)
    }
}

/// Collector of the limits that apply to a request. It stores the tightest one in the request.
pub(super) struct RateHeaders<'r> {
    request: &'r HttpRequest,
    tightest: Option<TightestLimit>,
}

impl<'r> RateHeaders<'r> {
    pub(super) fn new(request: &'r HttpRequest) -> Self {
        Self { request, tightest: None }
    }

    /// Records a limit and the number of requests that it still allows.
    pub(super) fn note(&mut self, rate: u32, burst: u32, remaining: u32) {
        if self.tightest.is_none_or(|tightest| remaining < tightest.remaining) {
            self.tightest = Some(TightestLimit { rate, burst, remaining });
        }
    }
}

impl Drop for RateHeaders<'_> {
    fn drop(&mut self) {
        if let Some(tightest) = self.tightest {
            self.request.extensions_mut().insert(tightest);
        }
    }
}

/// Adds the headers to a response. Existing headers describe another limit, e.g. a quota. They are replaced only if
/// the rate limit is used up.
pub(super) fn tell<B: MessageBody>(response: &mut ServiceResponse<B>) {
    let tightest = response.request().extensions().get::<TightestLimit>().copied();
    let Some(tightest) = tightest else { return };
    let headers = response.headers_mut();
    if tightest.remaining > 0 && headers.contains_key(&REMAINING) {
        return;
    }
    headers.insert(LIMIT, tightest.limit().into());
    headers.insert(REMAINING, tightest.remaining.into());
    headers.insert(RESET, tightest.reset().into());
    if let Ok(policy) = HeaderValue::from_str(&format!("{};w={}", tightest.limit(), tightest.burst)) {
        headers.insert(POLICY, policy);
    }
}
