//! Fetching a key document: one request, no redirects, a bounded body, five seconds for all of it.

use std::time::Duration;

use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use url::Url;

use super::guard::{PublicOnly, check_url};

/// The largest document that is read, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// Why a document could not be had; for the log alone.
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
    #[error("the document is no JWK Set: {0}")]
    NotAKeySet(#[from] serde_json::Error),
    #[error(transparent)]
    Http(#[from] reqwest::Error),
}

/// A client that follows no redirect. It reaches public hosts over TLS alone; with `private_network`, whatever it is given.
///
/// # Errors
/// Where the machine has no certificate roots.
pub fn guarded_client(private_network: bool) -> reqwest::Result<Client> {
    // Connections are not kept: requests are minutes apart, and the next may run on another thread's runtime.
    let client = Client::builder().redirect(Policy::none()).no_proxy().pool_max_idle_per_host(0).user_agent("knowhow");
    match private_network {
        true => client.build(),
        false => client.https_only(true).dns_resolver(PublicOnly).build(),
    }
}

/// The two clients: one that reaches public hosts only, one for what the deployment itself configured.
pub(super) struct Fetcher {
    public: Client,
    private: Client,
    patience: Duration,
}

impl Fetcher {
    /// Clients that give up after `patience`, counted from the lookup of the name to the last byte.
    pub(super) fn new(patience: Duration) -> reqwest::Result<Self> {
        Ok(Self { public: guarded_client(false)?, private: guarded_client(true)?, patience })
    }

    /// The body of a 200 answer.
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
