//! Cache of issuers' published keys. At most one fetch per issuer runs at a time, and no request waits for the
//! endpoint of another issuer. If an issuer is unreachable, its stale keys are used.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::DecodingKey;
use knowhow_domain::Clock;
use moka::future::Cache;
use tokio::sync::watch;
use url::Url;

use super::TokenError;
use super::fetch::{FetchError, Fetcher};
use super::keyset::KeySet;
use crate::vault::error::join_messages;
use knowhow_domain::Algorithm;

/// Age after which keys are renewed in the background.
const RENEW_AFTER: TimeDelta = TimeDelta::minutes(5);
/// Age after which keys are used only if fetching newer keys fails.
const FRESH_FOR: TimeDelta = TimeDelta::minutes(10);
/// Age after which keys are no longer used.
const STALE_FOR: TimeDelta = TimeDelta::hours(24);
/// Minimum time between two fetches caused by unknown key ids.
const UNKNOWN_KID_PAUSE: TimeDelta = TimeDelta::seconds(30);
/// Minimum time between a failed fetch and the next.
const FAILURE_PAUSE: TimeDelta = TimeDelta::seconds(10);
/// Time limit for fetching the keys of one source.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of cached sources.
const MAX_SOURCES: u64 = 10_000;

/// Source of keys. It includes the trust in the URL. So keys fetched for the deployment are not used for a tenant
/// that registers the same URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct KeySource {
    pub(super) url: Url,
    pub(super) algorithm: Algorithm,
    pub(super) private_network: bool,
}

/// Published keys of all issuers in use. A process has one cache.
pub struct JwksCache {
    fetcher: Arc<Fetcher>,
    clock: Arc<dyn Clock>,
    slots: Cache<KeySource, Arc<Slot>>,
}

#[derive(Default)]
struct Slot(Mutex<KeySourceState>);

#[derive(Default)]
struct KeySourceState {
    keys: Option<(Arc<KeySet>, DateTime<Utc>)>,
    failed_at: Option<DateTime<Utc>>,
    asked_for_kid_at: Option<DateTime<Utc>>,
    /// The running fetch, if any: a channel that closes when the fetch is over or its task was dropped.
    flight: Option<watch::Receiver<()>>,
}

enum Plan {
    Use(Arc<DecodingKey>),
    UseAndRenew(Arc<DecodingKey>),
    Wait,
    Refuse(TokenError),
    /// Rejects at once and renews in the background. A delay would reveal that the issuer exists.
    RefuseAndRenew(TokenError),
}

impl JwksCache {
    /// Creates an empty cache. Keys are fetched when a token first needs them.
    ///
    /// # Errors
    /// Fails if no TLS client can be created, for example without root certificates on the machine.
    pub fn new(clock: Arc<dyn Clock>) -> reqwest::Result<Self> {
        Self::with_timeout(clock, FETCH_TIMEOUT)
    }

    pub(super) fn with_timeout(clock: Arc<dyn Clock>, timeout: Duration) -> reqwest::Result<Self> {
        let slots = Cache::builder().max_capacity(MAX_SOURCES).time_to_idle(Duration::from_secs(24 * 3600)).build();
        Ok(Self { fetcher: Arc::new(Fetcher::new(timeout)?), clock, slots })
    }

    /// Queries an issuer's endpoint. Returns the reason if the endpoint has no usable keys, otherwise `None`.
    pub(crate) async fn examine(&self, url: &Url, algorithm: Algorithm, private_network: bool) -> Option<String> {
        let body = match self.fetcher.fetch(url, private_network).await {
            Ok(body) => body,
            Err(error) => return Some(join_messages(&error)),
        };
        match KeySet::read(&body, algorithm) {
            Ok(keys) if keys.is_empty() => Some(format!("the document has no key for {algorithm}")),
            Ok(_) => None,
            Err(error) => Some(FetchError::from(error).to_string()),
        }
    }

    /// Returns the key with this id. Waits for a fetch only if necessary.
    pub(super) async fn key(&self, source: KeySource, kid: Option<&str>) -> Result<Arc<DecodingKey>, TokenError> {
        let slot = match self.slots.get(&source).await {
            Some(slot) => slot,
            None => self.slots.entry_by_ref(&source).or_default().await.into_value(),
        };
        let mut landed = {
            let mut state = slot.lock();
            match state.plan(kid, self.clock.now()) {
                Plan::Use(key) => return Ok(key),
                Plan::Refuse(refusal) => return Err(refusal),
                Plan::UseAndRenew(key) => {
                    self.depart(&slot, &mut state, source);
                    return Ok(key);
                }
                Plan::RefuseAndRenew(refusal) => {
                    self.depart(&slot, &mut state, source);
                    return Err(refusal);
                }
                Plan::Wait => self.depart(&slot, &mut state, source),
            }
        };
        // No value is ever sent. The channel closes when the fetch is over, at the latest at its timeout.
        let _ = landed.changed().await;
        slot.lock().find_or_refuse(kid, self.clock.now())
    }

    /// Joins the running fetch or starts one. The fetch runs as its own task, so that a cancelled request does not
    /// cancel it for other requests.
    fn depart(&self, slot: &Arc<Slot>, state: &mut KeySourceState, source: KeySource) -> watch::Receiver<()> {
        if let Some(flight) = state.in_flight() {
            return flight.clone();
        }
        let (landing, landed) = watch::channel(());
        state.flight = Some(landed.clone());
        let (fetcher, clock, slot) = (Arc::clone(&self.fetcher), Arc::clone(&self.clock), Arc::clone(slot));
        tokio::spawn(async move {
            let outcome = fetcher.fetch(&source.url, source.private_network).await;
            let outcome = outcome.and_then(|body| Ok(KeySet::read(&body, source.algorithm)?));
            slot.lock().settle(outcome, &source, clock.now());
            drop(landing);
        });
        landed
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, KeySourceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeySourceState {
    fn in_flight(&self) -> Option<&watch::Receiver<()>> {
        self.flight.as_ref().filter(|flight| flight.has_changed().is_ok())
    }

    fn plan(&mut self, kid: Option<&str>, now: DateTime<Utc>) -> Plan {
        let within = |since: Option<DateTime<Utc>>, pause: TimeDelta| since.is_some_and(|since| now - since < pause);
        let (busy, resting) = (self.in_flight().is_some(), within(self.failed_at, FAILURE_PAUSE));
        let Some((keys, age)) = self.usable(now) else {
            return match self.failed_at {
                None => Plan::Wait,
                Some(_) if busy || resting => Plan::Refuse(TokenError::Unavailable),
                Some(_) => Plan::RefuseAndRenew(TokenError::Unavailable),
            };
        };
        match keys.find(kid) {
            Some(key) if age < RENEW_AFTER => Plan::Use(key),
            Some(key) if self.failed_at.is_some() || age < FRESH_FOR => {
                if busy || resting {
                    Plan::Use(key)
                } else {
                    Plan::UseAndRenew(key)
                }
            }
            Some(_) => Plan::Wait,
            None if busy => Plan::Wait,
            None if within(self.asked_for_kid_at, UNKNOWN_KID_PAUSE) => Plan::Refuse(self.refusal()),
            None => {
                self.asked_for_kid_at = Some(now);
                Plan::Wait
            }
        }
    }

    fn find_or_refuse(&self, kid: Option<&str>, now: DateTime<Utc>) -> Result<Arc<DecodingKey>, TokenError> {
        let (keys, _) = self.usable(now).ok_or(TokenError::Unavailable)?;
        keys.find(kid).ok_or_else(|| self.refusal())
    }

    fn usable(&self, now: DateTime<Utc>) -> Option<(Arc<KeySet>, TimeDelta)> {
        let (keys, fetched_at) = self.keys.as_ref()?;
        let age = now - *fetched_at;
        (age < STALE_FOR).then(|| (Arc::clone(keys), age))
    }

    /// Returns the error for a missing key: unknown, or unavailable if the last fetch failed.
    fn refusal(&self) -> TokenError {
        if self.failed_at.is_some() { TokenError::Unavailable } else { TokenError::UnknownKey }
    }

    fn settle(&mut self, outcome: Result<KeySet, FetchError>, source: &KeySource, now: DateTime<Utc>) {
        match outcome {
            Ok(keys) => {
                self.keys = Some((Arc::new(keys), now));
                self.failed_at = None;
            }
            Err(error) => {
                tracing::warn!(
                    issuer_host = source.url.host_str().unwrap_or_default(),
                    issuer_path = source.url.path(),
                    error = &error as &dyn std::error::Error,
                    "the keys of an issuer could not be fetched; tokens that need them are rejected with 401"
                );
                self.failed_at = Some(now);
            }
        }
    }
}
