//! How many skills a sync may delete. A side that is suddenly empty is more often a fault than a wish.

/// Number of skills that were deleted lately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gone {
    pub(super) from_service: usize,
    pub(super) from_folder: usize,
}

/// One side, counted: only skills that both sides had.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Side {
    /// Skills that it has.
    pub(super) there: usize,
    /// Skills that would be deleted.
    pub(super) going: usize,
    /// Skills that were deleted lately.
    pub(super) gone: usize,
}

impl Side {
    /// Reports whether these are all skills, or more than half of what there was.
    pub(super) fn is_too_many(self) -> bool {
        self.going > 0 && (self.going == self.there || 2 * (self.gone + self.going) > self.gone + self.there)
    }

    /// Shows how many would be deleted.
    pub(super) fn shown(self) -> String {
        let lately = if self.gone > 0 { format!(" (and {} within the last hour)", self.gone) } else { String::new() };
        format!("{} of {}{lately}", self.going, self.there)
    }
}

#[cfg(test)]
mod tests;
