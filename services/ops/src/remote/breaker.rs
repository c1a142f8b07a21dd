//! Pauses requests to a server that fails again and again, and tries it again after a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row after which the server is paused.
const FAILURES: u32 = 5;
/// How long a failing server is left alone.
const PAUSE: Duration = Duration::from_secs(10);
/// An attempt that the caller gave up after at least this long counts as failed.
///
/// Servers of embeddings answer in 50 to 300 ms, and turns and searches wait for 500 ms by default, so an attempt that
/// waited this long shows that the server hangs. A caller that gives up sooner shows nothing, and must not count:
/// otherwise one caller with short deadlines could pause the server for all others.
const SILENCE: Duration = Duration::from_millis(300);

/// Counts failures in a row.
#[derive(Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Default)]
struct State {
    failures: u32,
    failed_at: Option<Instant>,
    until: Option<Instant>,
}

/// A request under way. Dropping it means that the caller gave up.
pub(super) struct Attempt<'a> {
    breaker: &'a Breaker,
    since: Instant,
    is_probe: bool,
    is_over: bool,
}

impl Breaker {
    /// Lets a request through, or returns the seconds to wait. After a pause one request may probe the server. The next
    /// may follow when the probe has succeeded or was given up too soon to count, or else after another pause.
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

    /// Whether the last request failed, and too many before it.
    pub(super) fn is_open(&self) -> bool {
        self.state().until.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        if self.since.elapsed() < SILENCE {
            // The next one may look whether the server is back.
            if let Some(until) = state.until.as_mut().filter(|_| self.is_probe) {
                *until = Instant::now();
            }
        } else if state.failed_at.is_none_or(|failed_at| failed_at <= self.since) {
            // Many that were under way together tell of one silence, not of many.
            state.fail();
        }
    }
}

#[cfg(test)]
mod tests;
