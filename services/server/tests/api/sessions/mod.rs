//! `/v1/sessions`: conversations, their turns, and what comes into the prompt.

mod conversations;
mod everyday;
mod names;
mod open;
mod replies;
pub mod shown;
mod snapshots;
mod turns;
