//! State of the replica as known to the process: whether it may be used, and how far it lags.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lag::{Lag, Position};

/// Maximum lag. With a longer lag, most answers from the replica would be outdated.
pub(super) const MOST_BEHIND: Duration = Duration::from_secs(10);

/// State of a replica. Changes of the state are logged.
#[derive(Debug, Default)]
pub struct ReplicaStatus(Mutex<LastCheck>);

#[derive(Debug, Default)]
struct LastCheck {
    /// Whether the replica passed its last check; `None` before the first check.
    is_fit: Option<bool>,
    lag: Lag,
}

impl ReplicaStatus {
    /// Returns whether the replica may be used.
    pub fn is_fit(&self) -> bool {
        self.lock().is_fit == Some(true)
    }

    /// Returns the lag of the replica.
    pub fn lag(&self) -> Duration {
        self.lock().lag.at(Instant::now())
    }

    pub(super) fn note_primary(&self, position: Position) {
        self.lock().lag.note(position, Instant::now());
    }

    pub(super) fn note_replayed(&self, position: Position) {
        self.lock().lag.replayed(position);
    }

    /// Marks the replica as usable.
    pub(super) fn admit(&self) {
        if self.lock().is_fit.replace(true) != Some(true) {
            tracing::info!("reading catalogues and exports from the replica");
        }
    }

    /// Marks the replica as unusable until a check admits it again.
    pub(super) fn give_up(&self, reason: impl Display) {
        if self.lock().is_fit.replace(false) != Some(false) {
            tracing::warn!(%reason, "the replica is not used; reading from the primary");
        }
    }

    fn lock(&self) -> MutexGuard<'_, LastCheck> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
