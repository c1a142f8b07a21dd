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
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(490);

    fn admit(breaker: &Breaker) -> Attempt<'_> {
        breaker.admit().unwrap_or_else(|seconds| panic!("paused for {seconds} s"))
    }

    async fn give_up(breaker: &Breaker, after: Duration) {
        let attempt = admit(breaker);
        tokio::time::advance(after).await;
        drop(attempt);
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_after_five_failures_and_lets_one_through_after_a_pause() {
        let breaker = Breaker::default();
        for _ in 0..5 {
            assert!(!breaker.is_open());
            admit(&breaker).failed();
        }
        assert!(matches!(breaker.admit(), Err(seconds) if seconds >= 10));
        tokio::time::advance(PAUSE).await;
        let probe = admit(&breaker);
        assert!(breaker.admit().is_err() && breaker.is_open(), "one at a time");
        tokio::time::advance(PAUSE).await;
        let next = admit(&breaker);
        drop(probe);
        next.succeeded();
        assert!(breaker.admit().is_ok() && breaker.admit().is_ok() && !breaker.is_open());
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_forgets_what_was_before() {
        let breaker = Breaker::default();
        for _ in 0..4 {
            admit(&breaker).failed();
        }
        admit(&breaker).succeeded();
        admit(&breaker).failed();
        give_up(&breaker, PATIENCE).await;
        assert!(!breaker.is_open());
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_in_a_hurry_tells_nothing() {
        let breaker = Breaker::default();
        for _ in 0..100 {
            give_up(&breaker, Duration::from_millis(50)).await;
            give_up(&breaker, SILENCE - Duration::from_millis(1)).await;
        }
        assert!(!breaker.is_open());
        for _ in 0..4 {
            give_up(&breaker, PATIENCE).await;
        }
        assert!(!breaker.is_open());
        give_up(&breaker, PATIENCE).await;
        assert!(breaker.is_open());
        // Nor does it keep those from looking who have the time.
        tokio::time::advance(PAUSE).await;
        give_up(&breaker, Duration::from_millis(1)).await;
        admit(&breaker).succeeded();
        assert!(!breaker.is_open());
    }

    #[tokio::test(start_paused = true)]
    async fn one_silence_counts_once_for_all_who_wait() {
        let breaker = Breaker::default();
        for is_open in [false, false, false, false, true] {
            let together: Vec<_> = (0..30).map(|_| admit(&breaker)).collect();
            tokio::time::advance(PATIENCE).await;
            drop(together);
            assert_eq!(breaker.is_open(), is_open);
        }
    }
}
