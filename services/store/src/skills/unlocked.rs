//! A change that was composed before anything was asked: it locks the user's catalogue row unread, and is refused where the skill
//! is not as it was composed for.

use chrono::{DateTime, Utc};

use super::write::Planned;
use crate::WriteTx;
use crate::vault::write_tx::Counts;

/// What must still be true of the user's data when a change arrives that was composed without reading them.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// Most bytes of the user's skills that the quota allows.
    pub most_bytes: u64,
    /// Most bytes of all that is kept of the user's skills.
    pub most_stored_bytes: u64,
    /// The skill's uses and the last of them, where the answer that is kept tells them.
    pub used: Option<(i64, Option<DateTime<Utc>>)>,
}

impl WriteTx {
    /// Locks the user's catalogue row with what is sent next, without reading it: the change is checked by
    /// [`Planned::expecting`].
    pub fn lock_unread(&mut self) {
        self.lock_user();
        self.set_counts(Counts { skills: 0, bytes: 0, stored_bytes: 0 });
    }
}

impl Planned<'_> {
    /// Has the change refused where the skill is not at its base or the user has too much already.
    #[must_use]
    pub fn expecting(self, expected: Expected) -> Self {
        Self { expected: Some(expected), ..self }
    }

    /// Most bytes that the user may have before the change: of live skills, and of all that is kept.
    pub(super) fn room(&self, expected: &Expected) -> (i64, i64) {
        let room = |most: u64, added: i64| i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(added);
        // A user who is over the quota can still make skills smaller.
        let live = if self.added_bytes > 0 { room(expected.most_bytes, self.added_bytes) } else { i64::MAX };
        (live, room(expected.most_stored_bytes, self.most_stored_bytes))
    }
}
