//! The command line as a client of a running service.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

/// Which service, and as whom.
#[derive(Args)]
pub(super) struct Remote {
    /// The service
    #[arg(long, env = "KNOWHOW_URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A JWT or an API key
    #[arg(long, env = "KNOWHOW_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// With an API key: the user to act for, by external id
    #[arg(long, env = "KNOWHOW_USER")]
    user: Option<String>,
}

/// A service with the caller's credentials.
pub(super) struct Service {
    client: Client,
    url: String,
    token: String,
    user: Option<String>,
}

/// What the service refuses, or that it is out of reach.
#[derive(Debug)]
pub(super) struct Refusal {
    /// `None` where there was no answer.
    pub(super) status: Option<StatusCode>,
    /// The problem's slug, e.g. `quota-exceeded`.
    pub(super) code: String,
    pub(super) detail: String,
}

/// How often a service that is out of reach behind its door is asked again, one after the other.
const ATTEMPTS: usize = 4;
/// Longest wait before that.
const LONGEST_WAIT: Duration = Duration::from_secs(15);
/// For how long one that says "more slowly" is waited for, all waits of one request together: long work goes on at the pace that the
/// caller is given.
const LONGEST_PATIENCE: Duration = Duration::from_secs(600);

impl Remote {
    /// Sets up the client; nothing is sent yet.
    pub(super) fn connect(&self) -> Result<Service> {
        let token = self.token.clone().filter(|token| !token.is_empty()).context(
            "no credential: set KNOWHOW_TOKEN (or give --token) to a JWT or an API key; after `make run`, \
             `source data/dev.env` sets it",
        )?;
        // Files are packed between requests, longer than a service keeps an idle connection: none is used twice.
        let client = Client::builder().pool_max_idle_per_host(0).build().context("cannot set up an HTTP client")?;
        let url = self.url.trim_end_matches('/').to_owned();
        Ok(Service { client, url, token, user: self.user.clone() })
    }
}

impl Service {
    /// Where it is.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// A request as the caller.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token);
        match &self.user {
            Some(user) => request.header("Knowhow-User", user),
            None => request,
        }
    }

    /// Sends what `make` makes, again where the service is too busy just now.
    ///
    /// # Errors
    /// What the service says is wrong, or that it is out of reach.
    pub(super) async fn send(&self, make: impl Fn(&Self) -> RequestBuilder) -> Result<Response, Refusal> {
        let (mut attempt, mut waited) = (1, Duration::ZERO);
        loop {
            let response = make(self).send().await.map_err(|error| Refusal::unreachable(&self.url, &error))?;
            if response.status().is_success() {
                return Ok(response);
            }
            let wait = wait_of(&response);
            let refusal = Refusal::of(response).await;
            let goes_on = match refusal.code.as_str() {
                "rate-limited" => waited < LONGEST_PATIENCE,
                // A full quota will not be otherwise in a moment.
                "unavailable" => attempt < ATTEMPTS,
                _ => false,
            };
            if !goes_on {
                return Err(refusal);
            }
            attempt += usize::from(refusal.code == "unavailable");
            waited += wait;
            tokio::time::sleep(wait).await;
        }
    }
}

fn wait_of(response: &Response) -> Duration {
    let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(header.unwrap_or(1).max(1)).min(LONGEST_WAIT)
}

impl Refusal {
    fn unreachable(url: &str, error: &reqwest::Error) -> Self {
        let cause = std::error::Error::source(error).map(|cause| format!(" ({cause})")).unwrap_or_default();
        let detail = format!("the service at {url} cannot be reached{cause}");
        Self { status: None, code: String::new(), detail }
    }

    /// An answer that is not what it should be.
    pub(super) fn unreadable(error: reqwest::Error) -> Self {
        Self { status: None, code: String::new(), detail: format!("the answer cannot be read: {error}") }
    }

    async fn of(response: Response) -> Self {
        let status = response.status();
        let problem: Value = response.json().await.unwrap_or_default();
        let text = |member: &str| problem[member].as_str().unwrap_or_default().to_owned();
        let code = text("type").trim_start_matches("/problems/").to_owned();
        let detail = Some(text("detail")).filter(|detail| !detail.is_empty());
        Self { status: Some(status), code, detail: detail.unwrap_or_else(|| "no detail given".to_owned()) }
    }

    /// Whether the credential is not good for it, so that trying again is of no use.
    pub(super) fn is_about_the_credential(&self) -> bool {
        matches!(self.status, Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN))
    }

    /// Whether it is about one skill, so that others may be worked on still.
    pub(super) fn is_about_a_skill(&self) -> bool {
        let is_other = self.is_about_the_credential() || self.status == Some(StatusCode::TOO_MANY_REQUESTS);
        self.status.is_some_and(|status| status.is_client_error()) && !is_other
    }

    /// Whether it is about what was sent, so that other things may be sent still.
    pub(super) fn is_about_the_content(&self) -> bool {
        matches!(self.status, Some(StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{status}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl std::error::Error for Refusal {}
