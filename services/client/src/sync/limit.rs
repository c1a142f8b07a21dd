//! Limits the deletions of a sync, because an empty side is usually a mistake.

/// Numbers of skills that were deleted recently.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DeletionCounts {
    pub(super) from_service: usize,
    pub(super) from_folder: usize,
}

/// Numbers of skills on one side. Counts only skills that existed on both sides at the last sync.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SideCounts {
    /// Number of skills that this side still has.
    pub(super) there: usize,
    /// Number of skills that would be deleted.
    pub(super) going: usize,
    /// Number of skills that were deleted recently.
    pub(super) gone: usize,
}

impl SideCounts {
    /// Returns whether all skills would be deleted, or more than half of the skills that existed before the recent
    /// deletions.
    pub(super) fn is_too_many(self) -> bool {
        self.going > 0 && (self.going == self.there || 2 * (self.gone + self.going) > self.gone + self.there)
    }

    /// Describes the number of deletions for the user.
    pub(super) fn shown(self) -> String {
        let lately = if self.gone > 0 { format!(" (and {} within the last hour)", self.gone) } else { String::new() };
        format!("{} of {}{lately}", self.going, self.there)
    }
}

#[cfg(test)]
mod tests;
