//! How a skill stands: whether it says too little, and whether its uses went wrong.

/// A shorter text hardly tells how something is done.
const SPARSE_CHARS: usize = 200;
/// A younger skill may still be growing.
const SPARSE_DAYS: i64 = 7;
/// Fewer outcomes may be chance.
const TELLING_OUTCOMES: u32 = 3;

/// What became of a skill's uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Sessions with its use in which the user put the agent right.
    pub corrections: u32,
    /// Sessions with its use that were judged with thumbs down.
    pub thumbs_down: u32,
    /// Sessions with its use whose quality was judged poor or fair.
    pub low_quality: u32,
    /// Sessions with its use in which a reply spent the budget of its message.
    pub over_budget: u32,
    /// Uses of which it is known how they turned out.
    pub outcomes: u32,
    /// Those that did what they were for.
    pub successes: u32,
}

/// Whether a skill says too little: a body under 200 characters, older than 7 days.
pub fn is_sparse(body_characters: usize, age_days: i64) -> bool {
    body_characters < SPARSE_CHARS && age_days > SPARSE_DAYS
}

/// Whether a skill should be looked at: a session with it went wrong, or under half of three and more outcomes succeeded.
pub fn is_at_risk(standing: &Standing) -> bool {
    let Standing { corrections, thumbs_down, low_quality, over_budget, outcomes, successes } = *standing;
    let often_fails = outcomes >= TELLING_OUTCOMES && u64::from(successes) * 2 < u64::from(outcomes);
    corrections > 0 || thumbs_down > 0 || low_quality > 0 || over_budget > 0 || often_fails
}

#[cfg(test)]
mod tests;
