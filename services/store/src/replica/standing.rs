//! What a process knows of its replica: whether it may be asked, and how far it is behind.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::lag::{Lag, Position};

/// A replica that is further behind is not asked: most of what it says would not be believed.
pub(super) const MOST_BEHIND: Duration = Duration::from_secs(10);

/// What is known of a replica. Told in the log where it changes, and only then.
#[derive(Debug, Default)]
pub struct Standing(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// None before it was looked at.
    is_fit: Option<bool>,
    lag: Lag,
}

impl Standing {
    /// Whether it may be asked.
    pub fn is_fit(&self) -> bool {
        self.lock().is_fit == Some(true)
    }

    /// For how long it has not shown what the primary had.
    pub fn lag(&self) -> Duration {
        self.lock().lag.at(Instant::now())
    }

    pub(super) fn note_primary(&self, position: Position) {
        self.lock().lag.note(position, Instant::now());
    }

    pub(super) fn note_replayed(&self, position: Position) {
        self.lock().lag.replayed(position);
    }

    /// From now on it is asked.
    pub(super) fn admit(&self) {
        if self.lock().is_fit.replace(true) != Some(true) {
            tracing::info!("catalogues and exports are read from the replica");
        }
    }

    /// From now on it is not asked, until somebody has looked and admits it.
    pub(super) fn give_up(&self, reason: impl Display) {
        if self.lock().is_fit.replace(false) != Some(false) {
            tracing::warn!(%reason, "the replica is not asked; all is read from the primary");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
