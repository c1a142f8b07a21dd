//! Measures the replica's lag as a duration. The replica's own clock does not help. An idle primary sends no data,
//! and a disconnected replica knows of no newer data. So positions of the primary are recorded with their times until
//! the replica has replayed them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum number of recorded positions. At the maximum, a new position replaces the newest one.
const MOST: usize = 1000;

/// A byte position in the write-ahead log.
pub(super) type Position = i64;

#[derive(Debug, Default)]
pub(super) struct Lag {
    /// Positions of the primary that are not replayed yet, with their times, oldest first.
    ahead: VecDeque<(Position, Instant)>,
}

impl Lag {
    /// Records that the primary was at `position` at this time.
    pub(super) fn note(&mut self, position: Position, at: Instant) {
        if self.ahead.back().is_some_and(|(last, _)| *last == position) {
            return;
        }
        if self.ahead.len() == MOST {
            self.ahead.pop_back();
        }
        self.ahead.push_back((position, at));
    }

    /// Records that the replica has replayed all data up to `position`.
    pub(super) fn replayed(&mut self, position: Position) {
        while self.ahead.front().is_some_and(|(oldest, _)| *oldest <= position) {
            self.ahead.pop_front();
        }
    }

    /// Returns the age of the oldest position that is not replayed; zero if all are replayed.
    pub(super) fn at(&self, now: Instant) -> Duration {
        self.ahead.front().map_or(Duration::ZERO, |(_, since)| now.saturating_duration_since(*since))
    }
}

#[cfg(test)]
mod tests;
