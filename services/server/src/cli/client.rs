//! The command line as a client of a running service.

use anyhow::{Context, Result, bail};
use clap::Args;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;

/// Which service, and as whom.
#[derive(Args)]
pub(super) struct Remote {
    /// The service
    #[arg(long, env = "KNOWHOW_URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A JWT or an API key
    #[arg(long, env = "KNOWHOW_TOKEN", hide_env_values = true)]
    token: String,
    /// With an API key: the user to act for, by external id
    #[arg(long, env = "KNOWHOW_USER")]
    user: Option<String>,
}

impl Remote {
    pub(super) fn client(&self) -> Result<Client> {
        Client::builder().build().context("cannot set up an HTTP client")
    }

    /// A request with the caller's credentials.
    pub(super) fn send_as(&self, request: impl Fn(String) -> RequestBuilder, path: &str) -> RequestBuilder {
        let request = request(format!("{}{path}", self.url.trim_end_matches('/'))).bearer_auth(&self.token);
        match &self.user {
            Some(user) => request.header("Knowhow-User", user),
            None => request,
        }
    }
}

/// The answer, or what the service says is wrong.
pub(super) async fn answered(request: RequestBuilder) -> Result<Response> {
    let response = request.send().await.context("the service cannot be reached")?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let problem: Value = response.json().await.unwrap_or_default();
    bail!("{status}: {}", problem["detail"].as_str().unwrap_or("no detail given"))
}
