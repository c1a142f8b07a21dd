//! Work budget for a scan.

/// Maximum number of bytes searched for one skill; each pass over a text counts. A skill of the largest allowed size
/// takes about three passes. Only a crafted text takes more.
const LIMIT: u64 = 96 << 20;

/// Budget for a scan on the request's thread, in bytes. It limits the time to about a millisecond, even for a crafted
/// text. It suffices for 99 % of real skills of up to 16 KiB, which take a sixth of that time. A scan that exceeds the
/// budget is repeated on another thread.
const MOMENT: u64 = 256 << 10;

/// The remaining work budget.
#[derive(Debug)]
pub(super) struct ScanBudget {
    /// Whether patterns may be compiled, which takes some milliseconds each.
    compiles: bool,
    left: u64,
    used: u64,
    is_used_up: bool,
}

impl ScanBudget {
    pub(super) fn for_one_skill() -> Self {
        Self::of(LIMIT)
    }

    pub(super) fn for_a_moment() -> Self {
        Self { compiles: false, ..Self::of(MOMENT) }
    }

    pub(super) fn of(limit: u64) -> Self {
        Self { compiles: true, left: limit, used: 0, is_used_up: false }
    }

    /// Checks whether the budget allows compiling patterns. If not, the budget is used up.
    pub(super) fn charge_compiling(&mut self) -> bool {
        self.is_used_up |= !self.compiles;
        self.compiles
    }

    /// Charges a pass over `bytes` bytes. Returns `false` if the budget is exceeded; all later calls then return
    /// `false` too.
    pub(super) fn charge(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes as u64) {
            Some(left) if !self.is_used_up => {
                self.left = left;
                self.used += bytes as u64;
                true
            }
            _ => {
                self.is_used_up = true;
                false
            }
        }
    }

    /// Checks whether the budget was exceeded.
    pub(super) fn is_used_up(&self) -> bool {
        self.is_used_up
    }

    /// Returns the work done, in bytes.
    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        self.used
    }
}
