//! `/v1/sessions`: conversations, their turns, and what comes into the prompt.

mod budgets;
mod conversations;
pub mod everyday;
mod excluded;
mod names;
mod nudges;
mod open;
mod replies;
mod said_before;
mod short;
pub mod shown;
mod snapshots;
mod turns;
