//! Summarizes skills and conversations: with the chat model if there is one, else with extracts of their own text.

mod conversation;
mod extract;
mod skill;
#[cfg(test)]
mod tests;

pub(crate) use conversation::MESSAGE_CHARS;
pub use conversation::{extract_summary, summarize_conversation};
pub use skill::{Summarized, Summary, summarize_skill};
