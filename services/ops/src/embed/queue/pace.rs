//! How long the model takes for a text, as it was measured of late.

use std::time::Duration;

use tokio::time::Instant;

/// Share of what is measured last in what is expected next.
const NEWS: u32 = 8;
/// For so long what was measured is believed while it has texts refused.
const BELIEVED: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// Of a byte of text.
    each: Duration,
    /// When it was last measured, or else doubted.
    since: Option<Instant>,
}

impl Pace {
    /// How long so many bytes take.
    pub(super) fn of(self, bytes: u64) -> Duration {
        self.each.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// How long they take at most, but for bad luck: the model takes now more and now less, and works in vain for whoever is
    /// taken in and comes late.
    pub(super) fn at_most(self, bytes: u64) -> Duration {
        self.of(bytes) * 5 / 4
    }

    /// So many bytes took so long.
    pub(super) fn note(&mut self, bytes: usize, took: Duration) {
        self.each = (self.each * (NEWS - 1) + took / bytes as u32) / NEWS;
        self.since = Some(Instant::now());
    }

    /// A text was refused by what is expected. What is refused is not measured. So that one slow moment does not refuse
    /// every later text, half as long is expected each time that nothing was measured for a while.
    pub(super) fn note_refused(&mut self) {
        let now = Instant::now();
        if self.since.is_none_or(|since| now - since > BELIEVED) {
            self.each /= 2;
            self.since = Some(now);
        }
    }
}
