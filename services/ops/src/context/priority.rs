//! Priority of model requests.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// A caller waits for the answer.
    Turn,
    /// A user has just changed a skill. Such requests are handled before bulk work.
    Change,
    Background,
}
