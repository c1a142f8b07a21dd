//! Changes prepared from cached data, without reading first. The statement locks the user's catalogue row, and
//! rejects the change if the skill differs from its expected state.

use super::planned_change::{Expected, PlannedChange};
use crate::WriteTx;
use crate::vault::write_tx::CatalogueCounts;

impl WriteTx {
    /// Locks the user's catalogue row with the next round trip, without reading it. [`PlannedChange::expecting`]
    /// makes the statement check the change instead.
    pub fn lock_unread(&mut self) {
        self.lock_user();
        self.set_counts(CatalogueCounts { skills: 0, bytes: 0, stored_bytes: 0 });
    }
}

impl PlannedChange<'_> {
    /// Makes the change fail if the skill differs from its base, or if the user is over quota.
    #[must_use]
    pub fn expecting(self, expected: Expected) -> Self {
        Self { expected: Some(expected), ..self }
    }

    /// Returns the maximum number of bytes that the user may have before the change: in current skills, and stored in
    /// total.
    pub(super) fn room(&self, expected: &Expected) -> (i64, i64) {
        let room = |most: u64, added: i64| i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(added);
        // Users over the quota can still make skills smaller.
        let live = if self.added_bytes > 0 { room(expected.most_bytes, self.added_bytes) } else { i64::MAX };
        (live, room(expected.most_stored_bytes, self.most_stored_bytes))
    }
}
