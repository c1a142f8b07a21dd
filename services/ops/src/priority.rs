//! Whose work with a model goes first.

/// Who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Somebody, for an answer: goes first.
    Turn,
    /// A job.
    Background,
}
