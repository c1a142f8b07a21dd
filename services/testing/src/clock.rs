//! A clock that tests move.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Clock, SystemClock};

/// Stands still, at the moment it was made, until it is moved.
#[derive(Debug)]
pub struct HandClock(Mutex<DateTime<Utc>>);

impl HandClock {
    /// Begins now.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(SystemClock.now())))
    }

    /// Lets so much time pass.
    pub fn pass(&self, time: TimeDelta) {
        *self.0.lock().unwrap() += time;
    }
}

impl Clock for HandClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().unwrap()
    }
}
