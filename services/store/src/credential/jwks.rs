//! Published keys of issuers, kept at hand: one fetch at a time per issuer, stale keys rather than none, and never a
//! request that waits for another issuer's endpoint.

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
use crate::error::said;
use knowhow_domain::Algorithm;

/// Older keys are fetched again beside the requests that use them.
const RENEW_AFTER: TimeDelta = TimeDelta::minutes(5);
/// Older keys are used only where the endpoint fails.
const FRESH_FOR: TimeDelta = TimeDelta::minutes(10);
/// Older keys are never used.
const STALE_FOR: TimeDelta = TimeDelta::hours(24);
/// Between two fetches that an unknown key id causes.
const UNKNOWN_KID_PAUSE: TimeDelta = TimeDelta::seconds(30);
/// Between a failed fetch and the next.
const FAILURE_PAUSE: TimeDelta = TimeDelta::seconds(10);
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_SOURCES: u64 = 10_000;

/// Where keys come from. The trust in the URL is part of it: what was fetched for the deployment is not handed to a
/// tenant that registers the same URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Source {
    pub(super) url: Url,
    pub(super) algorithm: Algorithm,
    pub(super) private_network: bool,
}

/// The published keys of every issuer in use. One per process.
pub struct JwksCache {
    fetcher: Arc<Fetcher>,
    clock: Arc<dyn Clock>,
    slots: Cache<Source, Arc<Slot>>,
}

#[derive(Default)]
struct Slot(Mutex<State>);

#[derive(Default)]
struct State {
    keys: Option<(Arc<KeySet>, DateTime<Utc>)>,
    failed_at: Option<DateTime<Utc>>,
    asked_for_kid_at: Option<DateTime<Utc>>,
    /// Closed when the fetch is over, also when its task is gone for any other reason.
    flight: Option<watch::Receiver<()>>,
}

enum Plan {
    Use(Arc<DecodingKey>),
    UseAndRenew(Arc<DecodingKey>),
    Wait,
    Refuse(TokenError),
    /// At once, as how long an answer takes would tell that there is such an issuer.
    RefuseAndRenew(TokenError),
}

impl JwksCache {
    /// An empty cache; keys are fetched when a token first needs them.
    ///
    /// # Errors
    /// Where no TLS client can be set up, for example without any root certificate on the machine.
    pub fn new(clock: Arc<dyn Clock>) -> reqwest::Result<Self> {
        Self::with_timeout(clock, FETCH_TIMEOUT)
    }

    pub(super) fn with_timeout(clock: Arc<dyn Clock>, timeout: Duration) -> reqwest::Result<Self> {
        let slots = Cache::builder().max_capacity(MAX_SOURCES).time_to_idle(Duration::from_secs(24 * 3600)).build();
        Ok(Self { fetcher: Arc::new(Fetcher::new(timeout)?), clock, slots })
    }

    /// Why an issuer's keys cannot be had now, asking its endpoint; `None` where there are some.
    pub(crate) async fn examine(&self, url: &Url, algorithm: Algorithm, private_network: bool) -> Option<String> {
        let body = match self.fetcher.fetch(url, private_network).await {
            Ok(body) => body,
            Err(error) => return Some(said(&error)),
        };
        match KeySet::read(&body, algorithm) {
            Ok(keys) if keys.is_empty() => Some(format!("the document has no key for {algorithm}")),
            Ok(_) => None,
            Err(error) => Some(FetchError::from(error).to_string()),
        }
    }

    /// The key with that id; waits for a fetch where there is no other way.
    pub(super) async fn key(&self, source: Source, kid: Option<&str>) -> Result<Arc<DecodingKey>, TokenError> {
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
        // Nobody ever sends: the channel closes when the fetch is over, which its own timeout sees to.
        let _ = landed.changed().await;
        slot.lock().find_or_refuse(kid, self.clock.now())
    }

    /// Joins the fetch that is under way, or begins one. It runs as a task of its own, so that a caller who hangs up
    /// takes nothing from those who wait.
    fn depart(&self, slot: &Arc<Slot>, state: &mut State, source: Source) -> watch::Receiver<()> {
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
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
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

    /// A key that is not there is unknown, unless the issuer could not be asked whether it is new.
    fn refusal(&self) -> TokenError {
        if self.failed_at.is_some() { TokenError::Unavailable } else { TokenError::UnknownKey }
    }

    fn settle(&mut self, outcome: Result<KeySet, FetchError>, source: &Source, now: DateTime<Utc>) {
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
                    "the keys of an issuer were not fetched: tokens that need them are refused with 401"
                );
                self.failed_at = Some(now);
            }
        }
    }
}
