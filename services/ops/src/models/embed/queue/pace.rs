//! Estimates the model's time per byte of text from recent measurements.

use std::time::Duration;

use tokio::time::Instant;

/// Divisor for the weight of a new measurement: one eighth.
const NEWS: u32 = 8;
/// Maximum age of the last measurement. If it is older when a text is rejected, the estimate is halved.
const BELIEVED: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// Time per byte of text.
    each: Duration,
    /// Time of the last measurement or halving; `None` before the first measurement.
    since: Option<Instant>,
}

impl Pace {
    /// Returns the expected time for `bytes`.
    pub(super) fn of(self, bytes: u64) -> Duration {
        self.each.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// Returns the expected time plus a margin: durations vary, and work for a late text is wasted.
    pub(super) fn at_most(self, bytes: u64) -> Duration {
        self.of(bytes) * 5 / 4
    }

    /// Records that a batch of `bytes` bytes took the time `took`.
    pub(super) fn note(&mut self, bytes: usize, took: Duration) {
        self.each = (self.each * (NEWS - 1) + took / bytes as u32) / NEWS;
        self.since = Some(Instant::now());
    }

    /// Records a rejection. Rejected texts are not measured, so a single slow moment could reject all later texts.
    /// Therefore the estimate is halved whenever the last measurement is too old.
    pub(super) fn note_refused(&mut self) {
        let now = Instant::now();
        if self.since.is_none_or(|since| now - since > BELIEVED) {
            self.each /= 2;
            self.since = Some(now);
        }
    }
}
