//! A client of models behind an OpenAI-compatible server: JSON requests, with retries.

mod answer;
mod breaker;
mod error;
#[cfg(test)]
pub(crate) mod tests;

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use knowhow_telemetry::metrics::{self, Asked, Model};
use knowhow_telemetry::trace;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

use crate::Priority;
use answer::{read_body, read_refusal, unreachable};
use breaker::Breaker;
pub use error::RemoteError;
pub(crate) use error::complaint;

/// The first and the longest pause before a retry.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// Maximum wait for a connection.
const CONNECT: Duration = Duration::from_secs(3);
/// Time without an answer after which an embeddings server counts as failing. A server answers in 50 to 300 ms, and
/// turns and searches wait 500 ms by default.
const EMBEDDINGS_SILENCE: Duration = Duration::from_millis(300);
/// Time without an answer after which a chat model's server counts as failing. Turns wait 2 s by default, jobs
/// longer.
const CHAT_SILENCE: Duration = Duration::from_millis(1_500);
/// Maximum number of concurrent requests for turns, for recent changes, and for bulk work.
const PLACES: [usize; 3] = [32, 8, 4];

/// Settings for a server.
#[derive(Clone)]
pub struct RemoteSettings {
    /// Base URL, e.g. `https://api.example.com/v1`.
    pub url: Url,
    /// API key, if the server requires one.
    pub key: Option<String>,
    /// The model's name on the server.
    pub model: String,
    /// Timeout of one request.
    pub timeout: Duration,
    /// Maximum number of retries.
    pub retries: u32,
}

/// A client for one endpoint of a server.
pub(crate) struct Remote {
    client: Client,
    endpoint: Url,
    authorization: Option<HeaderValue>,
    settings: RemoteSettings,
    answer_bytes: usize,
    kind: Model,
    breaker: Breaker,
    turns: Semaphore,
    changes: Semaphore,
    bulk: Semaphore,
}

impl Remote {
    /// Creates a client for `path` below the server's URL, without sending a request.
    pub(crate) fn new(
        settings: RemoteSettings,
        path: &str,
        answer_bytes: usize,
        kind: Model,
    ) -> Result<Self, RemoteError> {
        let fail = |detail: &str| Err(RemoteError::Setting(detail.to_owned()));
        let mut endpoint = settings.url.clone();
        if !matches!(endpoint.scheme(), "http" | "https") || endpoint.host().is_none() {
            return fail("the URL must begin with http:// or https://, e.g. https://api.example.com/v1");
        }
        if !endpoint.username().is_empty() || endpoint.password().is_some() {
            return fail("the URL must not contain a user or password; the key has its own setting");
        }
        if settings.model.is_empty() || settings.timeout.is_zero() {
            return fail("the model's name must not be empty, and its timeout must not be 0");
        }
        let authorization = settings.key.as_ref().map(|key| HeaderValue::from_str(&format!("Bearer {key}")));
        let Ok(mut authorization) = authorization.transpose() else {
            return fail("the key contains a line break or another character that cannot be sent");
        };
        authorization.iter_mut().for_each(|value| value.set_sensitive(true));
        let base = endpoint.path().trim_end_matches('/');
        let base = base.strip_suffix(path).map_or(base, |base| base.trim_end_matches('/'));
        endpoint.set_path(&format!("{base}/{path}"));
        let client = Client::builder().redirect(Policy::none()).no_proxy().user_agent("knowhow");
        let client = client.connect_timeout(settings.timeout.min(CONNECT)).timeout(settings.timeout).build();
        let client = client.map_err(|error| RemoteError::Setting(format!("no HTTP client: {error}")))?;
        let [turns, changes, bulk] = PLACES.map(Semaphore::new);
        let breaker = Breaker::new(match kind {
            Model::Embeddings => EMBEDDINGS_SILENCE,
            Model::Chat => CHAT_SILENCE,
        });
        Ok(Self { client, endpoint, authorization, settings, answer_bytes, kind, breaker, turns, changes, bulk })
    }

    pub(crate) fn model(&self) -> &str {
        &self.settings.model
    }

    /// Returns whether requests are paused after failures.
    pub(crate) fn is_paused(&self) -> bool {
        self.breaker.is_open()
    }

    /// Sends a request, retries after transient errors, and parses the answer with `read`.
    ///
    /// Dropping the future cancels the request and frees its slot.
    pub(crate) async fn ask<T>(
        &self,
        priority: Priority,
        question: &impl Serialize,
        read: impl Fn(&[u8]) -> Result<T, RemoteError>,
    ) -> Result<T, RemoteError> {
        let places = match priority {
            Priority::Turn => &self.turns,
            Priority::Change => &self.changes,
            Priority::Background => &self.bulk,
        };
        // The semaphores are never closed.
        let _place = places.acquire().await;
        let mut retry = 0;
        loop {
            let attempt = self.breaker.admit().map_err(RemoteError::Paused)?;
            let request = metrics::asking(self.kind);
            let mut span = trace::wait_for(self.kind.as_str());
            let outcome = match self.attempt(question, span.traceparent()).await {
                Ok(answer) => read(&answer).map_err(Failure::from),
                Err(failure) => Err(failure),
            };
            let came = outcome.as_ref().map_or_else(|failure| failure.error.outcome(), |_| Asked::Ok);
            if came != Asked::Ok {
                span.failed(came.as_str());
            }
            drop(span);
            request.ended(came);
            match &outcome {
                Err(failure) if failure.error.is_outage() => attempt.failed(),
                _ => attempt.succeeded(),
            }
            let Failure { error, wait } = match outcome {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let wait = wait.unwrap_or_else(|| pause(retry));
            if !error.is_transient() || retry == self.settings.retries || wait > PAUSES.1 {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            retry += 1;
        }
    }

    async fn attempt(&self, question: &impl Serialize, traceparent: Option<String>) -> Result<Vec<u8>, Failure> {
        let mut request = self.client.post(self.endpoint.clone()).json(question);
        if let Some(traceparent) = traceparent {
            request = request.header("traceparent", traceparent);
        }
        if let Some(value) = &self.authorization {
            request = request.header(AUTHORIZATION, value);
        }
        let response = request.send().await.map_err(unreachable)?;
        if response.status() != StatusCode::OK {
            let (error, wait) = read_refusal(response).await;
            return Err(Failure { error, wait });
        }
        Ok(read_body(response, self.answer_bytes).await?)
    }
}

/// A failed attempt.
struct Failure {
    error: RemoteError,
    /// The wait that the server requested, if any.
    wait: Option<Duration>,
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        Self { error, wait: None }
    }
}

/// Waits for the result of `work`. Returns the error `late` after the deadline, if there is one.
pub(crate) async fn within<T, E>(
    deadline: Option<Instant>,
    late: E,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, work).await.unwrap_or(Err(late)),
        None => work.await,
    }
}

/// Returns the pause before a retry. The pause doubles with each retry, up to five seconds. Up to half of it is
/// subtracted at random, so that clients do not retry at the same time.
fn pause(retry: u32) -> Duration {
    let full = PAUSES.0.saturating_mul(2_u32.saturating_pow(retry)).min(PAUSES.1);
    let chance = RandomState::new().hash_one(retry) % 1000;
    full.mul_f64(0.5 + chance as f64 / 2000.0)
}
