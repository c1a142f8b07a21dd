//! HTTP client for the commands. It does not trust the responses: their size and duration are limited.

mod address;
mod answer;
mod pages;
mod refusal;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, Request, RequestBuilder, Response, redirect};
use tokio::time::{Instant, sleep, timeout};

pub(crate) use answer::{Body, Bounds, ServiceResponse};
pub(crate) use pages::{Pages, with};
pub(crate) use refusal::ServiceError;

use crate::print;

/// Selects the service and the caller.
#[derive(Args)]
pub(crate) struct Remote {
    /// URL of the service, without credentials
    #[arg(long, env = "KNOWHOW_URL", hide_env_values = true, default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A JWT or an API key
    #[arg(long, env = "KNOWHOW_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// With an API key: external id of the user to act for
    #[arg(long, env = "KNOWHOW_USER", hide_env_values = true)]
    user: Option<String>,
    /// Longest time without data from the service. A whole response may take 4 times as long, an archive or log 120
    /// times
    #[arg(long, global = true, env = "KNOWHOW_TIMEOUT", value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,
}

/// A service and the caller's credential.
pub(crate) struct Service {
    client: Client,
    address: String,
    token: String,
    timeout: Duration,
    /// Value of the header `Knowhow-Reason` of all requests.
    reason: Option<HeaderValue>,
}

/// Maximum number of attempts for one request while the service is unavailable.
const ATTEMPTS: usize = 4;
/// Maximum total wait for one response while the service limits the rate, as a multiple of the timeout.
const PATIENCE: u32 = 4;
/// Minimum wait that is reported to the user.
const NOTED_WAIT: Duration = Duration::from_secs(5);
/// Maximum time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// Minimum upload speed that the timeout allows for, in bytes per second.
const UPLOAD_PACE: u64 = 16 * 1024;

impl Remote {
    /// Creates the client. No request is sent.
    pub(crate) fn connect(&self) -> Result<Service> {
        let token = self.token.clone().filter(|token| !token.is_empty()).context(
            "no credential: set KNOWHOW_TOKEN (or give --token) to a JWT or an API key; after `make run`, \
             `source data/dev.env` sets it",
        )?;
        let address = address::parse(&self.url)?;
        let timeout = Duration::from_secs(self.timeout.into());
        // Connections are not reused, because packing files between two requests takes longer than the service keeps
        // an idle connection. Redirects are not followed, because the caller's headers and body would be sent to an
        // address that the user did not name.
        let client = Client::builder()
            .default_headers(self.headers(&token)?)
            .redirect(redirect::Policy::none())
            .connect_timeout(timeout.min(CONNECT))
            .pool_max_idle_per_host(0)
            .build()
            .context("cannot set up an HTTP client")?;
        Ok(Service { client, address, token, timeout, reason: None })
    }

    fn headers(&self, token: &str) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {token}")).ok();
        let mut bearer = bearer.context("the token (KNOWHOW_TOKEN or --token) contains an invalid character")?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        if let Some(user) = &self.user {
            let user = HeaderValue::from_str(user).ok();
            let user =
                user.context("the user (KNOWHOW_USER or --user) contains a character that is not allowed in a header")?;
            headers.insert("Knowhow-User", user);
        }
        Ok(headers)
    }
}

impl Service {
    /// Returns the URL of the service.
    pub(crate) fn url(&self) -> &str {
        &self.address
    }

    /// Returns this service with a reason that all requests give, for the audit log.
    ///
    /// # Errors
    /// Fails if the reason contains a character that is not allowed in a header.
    pub(crate) fn with_reason(self, reason: Option<&str>) -> Result<Self> {
        let reason = reason.map(|reason| HeaderValue::from_bytes(reason.as_bytes())).transpose();
        let reason = reason.ok().context("the reason contains a line break or another control character")?;
        Ok(Self { reason, ..self })
    }

    /// Creates a request with the caller's credential and reason.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.address));
        match &self.reason {
            Some(reason) => request.header("Knowhow-Reason", reason),
            None => request,
        }
    }

    /// Returns a reader for the list at `path`, which reads page by page.
    pub(crate) fn pages(&self, path: &str) -> Pages<'_> {
        Pages::of(self, path)
    }

    /// Sends the request that `make` returns. While the service is busy, waits and sends it again.
    ///
    /// # Errors
    /// Fails with the service's error, or if the service cannot be reached, does not respond or redirects.
    pub(crate) async fn send(&self, make: impl Fn(&Self) -> RequestBuilder) -> Result<ServiceResponse, ServiceError> {
        self.send_at_most(ATTEMPTS, make).await
    }

    /// Sends the request like [`Service::send`], at most `attempts` times if the service is unavailable. It is then
    /// unknown whether the request took effect.
    pub(crate) async fn send_at_most(
        &self,
        attempts: usize,
        make: impl Fn(&Self) -> RequestBuilder,
    ) -> Result<ServiceResponse, ServiceError> {
        let (mut attempt, patience) = (1, Instant::now() + self.timeout * PATIENCE);
        loop {
            let request = make(self).build().map_err(|error| ServiceError::unreachable(&self.address, error))?;
            let response = self.execute(request).await?;
            if response.status().is_success() {
                return Ok(ServiceResponse::new(response, self.timeout));
            }
            let wait = wait_of(&response);
            let refusal = ServiceError::read(response, self.timeout).await.without(&self.token);
            let may_wait = match refusal.code.as_str() {
                "rate-limited" => true,
                // Other errors, such as a full quota, do not disappear within seconds.
                "unavailable" => attempt < attempts,
                _ => return Err(refusal),
            };
            if !may_wait || Instant::now() + wait > patience {
                return Err(refusal.with_remaining_wait(wait));
            }
            if wait >= NOTED_WAIT {
                print::note(format!("the service asks to wait {} seconds: {}", wait.as_secs(), refusal.detail));
            }
            attempt += usize::from(refusal.code == "unavailable");
            sleep(wait).await;
        }
    }

    async fn execute(&self, request: Request) -> Result<Response, ServiceError> {
        let limit = self.first_byte(&request);
        match timeout(limit, self.client.execute(request)).await {
            Ok(Ok(response)) if response.status().is_redirection() => Err(ServiceError::redirected(&response)),
            Ok(outcome) => outcome.map_err(|error| ServiceError::unreachable(&self.address, error)),
            Err(_) => Err(ServiceError::silent(&self.address, limit)),
        }
    }

    /// Returns the maximum time until the service starts to respond. Only uploads have a `Content-Length`; they get
    /// additional time for sending and storing the body.
    fn first_byte(&self, request: &Request) -> Duration {
        let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        match length {
            Some(bytes) => self.timeout * PATIENCE + Duration::from_secs(bytes / UPLOAD_PACE),
            None => self.timeout,
        }
    }
}

/// Returns the wait that the service asks for, but at least one second.
fn wait_of(response: &Response) -> Duration {
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    // The wait is limited to a day, so that sums of times cannot overflow.
    Duration::from_secs(header.unwrap_or(1).clamp(1, 86_400))
}
