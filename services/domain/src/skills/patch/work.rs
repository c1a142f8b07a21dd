//! Work budget for all edits in one patch. Work is counted, not timed, so that a patch has the same outcome on every
//! machine.

use std::cell::Cell;

/// Budget for each byte of the texts, in units of about ten nanoseconds.
const PER_BYTE: usize = 32;
/// Budget for a patch to empty texts, in the same units as `PER_BYTE`.
const BASE: usize = 8 * 1024 * 1024;

pub(super) struct PatchBudget(Cell<usize>);

impl PatchBudget {
    /// Makes a budget for edits to texts with `bytes` bytes in total.
    pub(super) fn for_bytes(bytes: usize) -> Self {
        Self(Cell::new(bytes.saturating_mul(PER_BYTE).saturating_add(BASE)))
    }

    /// Subtracts work from the budget. Once it is spent, searches end early.
    pub(super) fn spend(&self, units: usize) {
        self.0.set(self.0.get().saturating_sub(units));
    }

    /// Extends the budget because another text with `bytes` bytes is edited.
    pub(super) fn add_bytes(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_add(bytes.saturating_mul(PER_BYTE)));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}
