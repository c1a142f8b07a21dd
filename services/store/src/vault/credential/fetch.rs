//! Fetches key documents: one request, no redirects, limited body size, five seconds in total.

use std::time::Duration;

use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use url::Url;

use super::guard::{PublicOnly, check_url};

/// Maximum size of a document in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// Reason for a failed fetch, for the log only.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("the URL {0}")]
    Refused(String),
    #[error("answered {0}")]
    Status(StatusCode),
    #[error("the document has more than {MAX_BODY} bytes")]
    TooLarge,
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    #[error("the document is not a JWK Set: {0}")]
    NotAKeySet(#[from] serde_json::Error),
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// Creates a client that follows no redirects. It connects to public hosts over TLS only, or with `private_network` to
/// any host.
///
/// # Errors
/// Fails if the machine has no root certificates.
pub fn guarded_client(private_network: bool) -> reqwest::Result<Client> {
    // Connections are not reused: requests are minutes apart, and the next one may run on another thread's runtime.
    let client = Client::builder().redirect(Policy::none()).no_proxy().pool_max_idle_per_host(0).user_agent("knowhow");
    match private_network {
        true => client.build(),
        false => client.https_only(true).dns_resolver(PublicOnly).build(),
    }
}

/// Two clients: one for public hosts only, one for URLs configured by the deployment.
pub(super) struct Fetcher {
    public: Client,
    private: Client,
    patience: Duration,
}

impl Fetcher {
    /// Creates clients with the time limit `patience`, from DNS lookup to the last byte.
    pub(super) fn new(patience: Duration) -> reqwest::Result<Self> {
        Ok(Self { public: guarded_client(false)?, private: guarded_client(true)?, patience })
    }

    /// Fetches a URL and returns the body of an answer with status 200.
    pub(super) async fn fetch(&self, url: &Url, private_network: bool) -> Result<Vec<u8>, FetchError> {
        check_url(url, private_network).map_err(FetchError::Refused)?;
        let client = if private_network { &self.private } else { &self.public };
        tokio::time::timeout(self.patience, read(client, url)).await.map_err(|_| FetchError::Timeout(self.patience))?
    }
}

async fn read(client: &Client, url: &Url) -> Result<Vec<u8>, FetchError> {
    let request = client.get(url.clone()).header(ACCEPT, "application/jwk-set+json, application/json");
    let mut response = request.send().await.map_err(reqwest::Error::without_url)?;
    if response.status() != StatusCode::OK {
        return Err(FetchError::Status(response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if body.len() + chunk.len() > MAX_BODY {
            return Err(FetchError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
