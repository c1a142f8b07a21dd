//! A circuit breaker: pauses requests to a server that fails repeatedly, and tries it again after a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Number of consecutive failures that cause a pause.
const FAILURES: u32 = 5;
/// Duration of a pause.
const PAUSE: Duration = Duration::from_secs(10);

/// A circuit breaker that counts consecutive failures.
pub(super) struct Breaker {
    state: Mutex<State>,
    /// Minimum duration of an attempt that counts as failed if its caller gives up.
    ///
    /// A shorter attempt does not show that the server is failing. If it counted, a caller with short deadlines could
    /// pause the server for all others.
    silence: Duration,
}

#[derive(Default)]
struct State {
    failures: u32,
    failed_at: Option<Instant>,
    until: Option<Instant>,
}

/// A running request. An attempt is dropped if the caller gave up.
pub(super) struct Attempt<'a> {
    breaker: &'a Breaker,
    since: Instant,
    is_probe: bool,
    is_over: bool,
}

impl Breaker {
    pub(super) fn new(silence: Duration) -> Self {
        Self { state: Mutex::default(), silence }
    }

    /// Admits a request, or returns the number of seconds to wait. After a pause, a single request may probe the
    /// server. The next request is admitted after the probe has succeeded, or was abandoned too soon to count, or after
    /// another pause.
    pub(super) fn admit(&self) -> Result<Attempt<'_>, u64> {
        let (since, mut state) = (Instant::now(), self.state());
        let is_probe = state.until.is_some();
        if let Some(until) = &mut state.until {
            if since < *until {
                return Err((*until - since).as_secs() + 1);
            }
            *until = since + PAUSE;
        }
        Ok(Attempt { breaker: self, since, is_probe, is_over: false })
    }

    /// Returns whether requests are paused.
    pub(super) fn is_open(&self) -> bool {
        self.state().until.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn fail(&mut self) {
        let now = Instant::now();
        self.failures = self.failures.saturating_add(1);
        self.failed_at = Some(now);
        if self.failures >= FAILURES {
            self.until = Some(now + PAUSE);
        }
    }
}

impl Attempt<'_> {
    pub(super) fn succeeded(mut self) {
        self.is_over = true;
        *self.breaker.state() = State::default();
    }

    pub(super) fn failed(mut self) {
        self.is_over = true;
        self.breaker.state().fail();
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.breaker.state();
        if self.since.elapsed() < self.breaker.silence {
            // The next request may probe the server.
            if let Some(until) = state.until.as_mut().filter(|_| self.is_probe) {
                *until = Instant::now();
            }
        } else if state.failed_at.is_none_or(|failed_at| failed_at <= self.since) {
            // Concurrent attempts abandoned together count as a single failure.
            state.fail();
        }
    }
}

#[cfg(test)]
mod tests;
