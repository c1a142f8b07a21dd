//! The command line as a client of a running service, whose answers it does not trust.

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

pub(super) use answer::{Answer, Body, Bounds};
pub(super) use pages::{Pages, with};
pub(super) use refusal::Refusal;

use super::print;

/// Selects the service and the caller.
#[derive(Args)]
pub(super) struct Remote {
    /// The service's address, without credentials
    #[arg(long, env = "KNOWHOW_URL", hide_env_values = true, default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A JWT or an API key
    #[arg(long, env = "KNOWHOW_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// With an API key: the user to act for, by external id
    #[arg(long, env = "KNOWHOW_USER", hide_env_values = true)]
    user: Option<String>,
    /// Longest silence of the service. A whole answer may take 4 times as long, an archive or log 120 times
    #[arg(long, global = true, env = "KNOWHOW_TIMEOUT", value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,
}

/// Service with the caller's credentials.
pub(super) struct Service {
    client: Client,
    address: String,
    token: String,
    timeout: Duration,
}

/// Most requests for one answer while the service is unavailable.
const ATTEMPTS: usize = 4;
/// Longest waiting for one answer while the service asks for slower requests, in timeouts.
const PATIENCE: u32 = 4;
/// Waits from this length on are reported.
const NOTED_WAIT: Duration = Duration::from_secs(5);
/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// Slowest upload that is waited for, in bytes a second.
const UPLOAD_PACE: u64 = 16 * 1024;

impl Remote {
    /// Sets up the client; nothing is sent yet.
    pub(super) fn connect(&self) -> Result<Service> {
        let token = self.token.clone().filter(|token| !token.is_empty()).context(
            "no credential: set KNOWHOW_TOKEN (or give --token) to a JWT or an API key; after `make run`, \
             `source data/dev.env` sets it",
        )?;
        let address = address::parse(&self.url)?;
        let timeout = Duration::from_secs(self.timeout.into());
        // Files are packed between requests, longer than a service keeps an idle connection: none is used twice.
        // A redirect would carry the caller's headers and the body to an address that the user did not name.
        let client = Client::builder()
            .default_headers(self.headers(&token)?)
            .redirect(redirect::Policy::none())
            .connect_timeout(timeout.min(CONNECT))
            .pool_max_idle_per_host(0)
            .build()
            .context("cannot set up an HTTP client")?;
        Ok(Service { client, address, token, timeout })
    }

    fn headers(&self, token: &str) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {token}")).ok();
        let mut bearer = bearer.context("the token (KNOWHOW_TOKEN or --token) has a character that no token has")?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        if let Some(user) = &self.user {
            let user = HeaderValue::from_str(user).ok();
            let user = user.context("the user (KNOWHOW_USER or --user) has a character that a header cannot hold")?;
            headers.insert("Knowhow-User", user);
        }
        Ok(headers)
    }
}

impl Service {
    /// Returns the service's address.
    pub(super) fn url(&self) -> &str {
        &self.address
    }

    /// Begins a request as the caller.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.address))
    }

    /// Reads a list page by page.
    pub(super) fn pages(&self, path: &str) -> Pages<'_> {
        Pages::of(self, path)
    }

    /// Sends the request that `make` returns, and sends it again if the service is busy.
    ///
    /// # Errors
    /// The service's refusal; or it is out of reach, silent, or redirects.
    pub(super) async fn send(&self, make: impl Fn(&Self) -> RequestBuilder) -> Result<Answer, Refusal> {
        let (mut attempt, patience) = (1, Instant::now() + self.timeout * PATIENCE);
        loop {
            let request = make(self).build().map_err(|error| Refusal::unreachable(&self.address, error))?;
            let response = self.execute(request).await?;
            if response.status().is_success() {
                return Ok(Answer::new(response, self.timeout));
            }
            let wait = wait_of(&response);
            let refusal = Refusal::read(response, self.timeout).await.without(&self.token);
            let may_wait = match refusal.code.as_str() {
                "rate-limited" => true,
                // Other refusals, such as a full quota, do not change in a moment.
                "unavailable" => attempt < ATTEMPTS,
                _ => return Err(refusal),
            };
            if !may_wait || Instant::now() + wait > patience {
                return Err(refusal.after_waiting(wait));
            }
            if wait >= NOTED_WAIT {
                print::note(format!("the service asks to wait {} seconds: {}", wait.as_secs(), refusal.detail));
            }
            attempt += usize::from(refusal.code == "unavailable");
            sleep(wait).await;
        }
    }

    async fn execute(&self, request: Request) -> Result<Response, Refusal> {
        let limit = self.first_byte(&request);
        match timeout(limit, self.client.execute(request)).await {
            Ok(Ok(response)) if response.status().is_redirection() => Err(Refusal::redirected(&response)),
            Ok(outcome) => outcome.map_err(|error| Refusal::unreachable(&self.address, error)),
            Err(_) => Err(Refusal::silent(&self.address, limit)),
        }
    }

    /// Returns how long the service may take until it begins to answer. Only uploads have a length in their headers here. They take
    /// time on the line, and the service has to store them.
    fn first_byte(&self, request: &Request) -> Duration {
        let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        match length {
            Some(bytes) => self.timeout * PATIENCE + Duration::from_secs(bytes / UPLOAD_PACE),
            None => self.timeout,
        }
    }
}

/// Returns how long the service asks to wait, at least a second.
fn wait_of(response: &Response) -> Duration {
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    // More than a day is as good as a day; a sum with it cannot overflow.
    Duration::from_secs(header.unwrap_or(1).clamp(1, 86_400))
}
