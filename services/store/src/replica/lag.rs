//! How far a replica is behind, in time. Its own clock says nothing of that: an idle primary sends nothing, and a replica that is cut
//! off knows of nothing newer. So the positions of the primary are kept until the replica has come by them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Most positions that are kept; of more, the newest is replaced.
const MOST: usize = 1000;

/// A byte of the write-ahead log.
pub(super) type Position = i64;

#[derive(Debug, Default)]
pub(super) struct Lag {
    /// Where the primary was and when; oldest first, all beyond what was replayed.
    ahead: VecDeque<(Position, Instant)>,
}

impl Lag {
    /// Notes where the primary is.
    pub(super) fn note(&mut self, position: Position, at: Instant) {
        if self.ahead.back().is_some_and(|(last, _)| *last == position) {
            return;
        }
        if self.ahead.len() == MOST {
            self.ahead.pop_back();
        }
        self.ahead.push_back((position, at));
    }

    /// Notes how far the replica is.
    pub(super) fn replayed(&mut self, position: Position) {
        while self.ahead.front().is_some_and(|(oldest, _)| *oldest <= position) {
            self.ahead.pop_front();
        }
    }

    /// For how long the replica has not shown what the primary had.
    pub(super) fn at(&self, now: Instant) -> Duration {
        self.ahead.front().map_or(Duration::ZERO, |(_, since)| now.saturating_duration_since(*since))
    }
}

#[cfg(test)]
mod tests;
