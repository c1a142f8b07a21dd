//! Caches sessions after the last turn in this process, so that the next turn needs no read.

use knowhow_domain::SkillId;
use knowhow_store::sessions::TurnState;

use super::remembered::CachedState;

/// A session after a turn.
pub(crate) struct CachedSession {
    pub(crate) state: TurnState,
    /// The `turn_key` of the last turn, if it had one.
    pub(crate) turn_key: Option<String>,
}

impl CachedState for CachedSession {
    /// Returns the approximate size in bytes. `snapshot_omitted` is not counted, as it is only three numbers.
    fn weight(&self) -> usize {
        let shown = (self.state.listed.len() + self.state.injected.len()) * size_of::<SkillId>();
        let last =
            [&self.state.last.message, &self.state.last.reply].into_iter().flatten().map(String::len).sum::<usize>();
        1_000 + size_of::<Self>() + shown + last + self.turn_key.as_ref().map_or(0, String::len)
    }

    fn is_later_than(&self, other: &Self) -> bool {
        self.state.turns > other.state.turns
    }
}
