//! Summarizes skills and sessions with the chat model. If no model is configured, extracts parts of their own text.

mod conversation;
mod extract;
mod skill;
#[cfg(test)]
mod tests;

pub(crate) use conversation::MESSAGE_CHARS;
pub use conversation::{extract_summary, summarize_conversation};
pub use skill::{Summarized, Summary, summarize_skill};
