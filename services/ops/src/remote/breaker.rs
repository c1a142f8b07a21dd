//! Leaves a server alone that fails again and again, and looks after a while whether it is back.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row that are one too many.
const FAILURES: u32 = 5;
/// How long a failing server is left alone.
const PAUSE: Duration = Duration::from_secs(10);

/// Counts failures in a row.
#[derive(Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
}

impl Breaker {
    /// Whether a request may be made now, else the seconds to wait. After a pause one may, and the next only a pause
    /// later or once that one has succeeded.
    pub(super) fn admit(&self) -> Result<(), u64> {
        let (now, mut state) = (Instant::now(), self.state());
        if let Some(until) = state.until {
            if now < until {
                return Err((until - now).as_secs() + 1);
            }
            state.until = Some(now + PAUSE);
        }
        Ok(())
    }

    /// Whether the last request failed, and too many before it.
    pub(super) fn is_open(&self) -> bool {
        self.state().until.is_some()
    }

    /// The server works.
    pub(super) fn succeeded(&self) {
        *self.state() = State::default();
    }

    /// It does not.
    pub(super) fn failed(&self) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            state.until = Some(Instant::now() + PAUSE);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_opens_after_five_failures_and_lets_one_through_after_a_pause() {
        let breaker = Breaker::default();
        for _ in 0..4 {
            breaker.failed();
            assert!(breaker.admit().is_ok() && !breaker.is_open());
        }
        breaker.failed();
        assert!(matches!(breaker.admit(), Err(seconds) if seconds >= 10));
        tokio::time::advance(PAUSE).await;
        assert!(breaker.admit().is_ok());
        assert!(breaker.admit().is_err() && breaker.is_open(), "one at a time");
        tokio::time::advance(PAUSE).await;
        assert!(breaker.admit().is_ok(), "a probe that was never heard of again");
        breaker.succeeded();
        assert!(breaker.admit().is_ok() && breaker.admit().is_ok() && !breaker.is_open());
    }

    #[test]
    fn a_success_forgets_what_was_before() {
        let breaker = Breaker::default();
        for _ in 0..4 {
            breaker.failed();
        }
        breaker.succeeded();
        breaker.failed();
        assert!(breaker.admit().is_ok());
    }
}
