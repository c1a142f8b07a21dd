//! `/v1/sessions`: conversations, their turns, and the text they add to the prompt.

pub mod background;
mod budgets;
mod conversations;
pub mod everyday;
mod excluded;
mod judged;
mod judged_everyday;
mod memories;
mod memory_changes;
mod names;
mod nudges;
mod open;
mod public_set;
pub mod recall;
mod replies;
mod said_before;
mod short;
pub mod shown;
mod shown_bodies;
mod snapshots;
mod soul;
mod taint;
mod turns;
