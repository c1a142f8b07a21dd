//! Reflections: their inputs and results.

pub(crate) mod inputs;
pub(crate) mod keep;
pub(crate) mod rows;

pub use crate::across::reflections::{DueReflections, enqueue_due};
pub use inputs::{
    BelowOf, DayConversation, DayOf, PeriodPart, ReflectedSession, list_below, list_conversations, list_used,
};
pub use keep::{Carried, Finished, QueuedReflection, carry, count_actions, finish, lock, queue};
pub use rows::{ReflectionListQuery, find, find_today, list};
