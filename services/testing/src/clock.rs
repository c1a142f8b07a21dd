//! A clock that tests move by hand.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Clock, SystemClock};

/// A clock that shows the same time until a test moves it.
#[derive(Debug)]
pub struct HandClock(Mutex<DateTime<Utc>>);

impl HandClock {
    /// Creates a clock that shows the current time.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(SystemClock.now())))
    }

    /// Moves the clock forward by `time`.
    pub fn pass(&self, time: TimeDelta) {
        *self.0.lock().unwrap() += time;
    }
}

impl Clock for HandClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().unwrap()
    }
}
