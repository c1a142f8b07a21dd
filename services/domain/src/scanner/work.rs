//! How much a scan may do.

/// Bytes that one skill may cost, each counted as often as a search passes over it. A skill of the largest allowed size
/// costs about three passes of its bytes; only a text that is made for it costs more.
const LIMIT: u64 = 96 << 20;

/// The same for a scan that is done while a request waits on its thread: a millisecond of a text made for it, and enough for 99 of
/// 100 real skills of up to 16 KiB, which take a sixth of one. What is more is begun anew on another thread.
const MOMENT: u64 = 256 << 10;

/// What is left to do.
#[derive(Debug)]
pub(super) struct Work {
    /// Whether patterns may be compiled, which takes some milliseconds each.
    compiles: bool,
    left: u64,
    used: u64,
    is_used_up: bool,
}

impl Work {
    pub(super) fn for_one_skill() -> Self {
        Self::of(LIMIT)
    }

    pub(super) fn for_a_moment() -> Self {
        Self { compiles: false, ..Self::of(MOMENT) }
    }

    pub(super) fn of(limit: u64) -> Self {
        Self { compiles: true, left: limit, used: 0, is_used_up: false }
    }

    /// Takes in the compiling of a pattern; `false` where there is no time for it.
    pub(super) fn charge_compiling(&mut self) -> bool {
        self.is_used_up |= !self.compiles;
        self.compiles
    }

    /// Takes in a pass over so many bytes; `false` if that is more than is left, and from then on.
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

    /// Whether something was not done.
    pub(super) fn is_used_up(&self) -> bool {
        self.is_used_up
    }

    /// What was done, in bytes.
    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        self.used
    }
}
