//! Time as a dependency, so that tests can control it.

use chrono::{DateTime, SubsecRound, Utc};

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the current UTC time, truncated to microseconds. Postgres stores microseconds, so an answer and a later
    /// read agree.
    fn now(&self) -> DateTime<Utc>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}
