//! Whose work with a model goes first.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Somebody, for an answer: goes first.
    Turn,
    /// Somebody, later: what they have just changed comes before what nobody waits for.
    Change,
    Background,
}
