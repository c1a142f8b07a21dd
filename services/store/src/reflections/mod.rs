//! Reflections: what they are made of, and what came of them.

pub(crate) mod inputs;
pub(crate) mod keep;
pub(crate) mod rows;

pub use crate::across::reflections::{Due, enqueue_due};
pub use inputs::{Below, BelowOf, DayConversation, DayOf, Told, list_below, list_conversations, list_used};
pub use keep::{Carried, Finished, Queued, carry, count_actions, finish, lock, queue};
pub use rows::{ListQuery, find, find_today, list};
