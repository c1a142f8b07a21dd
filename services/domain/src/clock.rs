//! Time as a dependency, so that tests decide what time it is.

use chrono::{DateTime, SubsecRound, Utc};

/// Where the current time comes from.
pub trait Clock: Send + Sync {
    /// The current instant, UTC, to the microsecond: what Postgres keeps, so that an answer and a later read agree.
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
