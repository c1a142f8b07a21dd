//! How much work the edits of one patch may cause together. It is counted, not timed: the same patch has the same outcome on
//! every machine.

use std::cell::Cell;

/// Work that is allowed for every byte of the texts, and beside it. One unit takes about ten nanoseconds.
const PER_BYTE: usize = 32;
const BASE: usize = 8 * 1024 * 1024;

pub(super) struct Work(Cell<usize>);

impl Work {
    /// For edits of texts of so many bytes in all.
    pub(super) fn for_bytes(bytes: usize) -> Self {
        Self(Cell::new(bytes.saturating_mul(PER_BYTE).saturating_add(BASE)))
    }

    /// Takes note of work. What goes on after all is spent is cut short.
    pub(super) fn spend(&self, units: usize) {
        self.0.set(self.0.get().saturating_sub(units));
    }

    /// Another text came in.
    pub(super) fn add_bytes(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_add(bytes.saturating_mul(PER_BYTE)));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}
