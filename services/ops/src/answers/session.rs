//! Sessions as they were after the last turn that this process took: the next turn goes by that, and reads nothing.

use knowhow_domain::SkillId;
use knowhow_store::sessions::TurnState;

use super::remembered::Seen;

/// A session after a turn.
pub(crate) struct KeptSession {
    pub(crate) state: TurnState,
    /// The key of that turn.
    pub(crate) turn_key: Option<String>,
}

impl Seen for KeptSession {
    /// What of its snapshot is left out are three numbers.
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
