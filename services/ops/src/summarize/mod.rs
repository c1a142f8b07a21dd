//! What a skill and a conversation come down to: by a model's words, else by their own.

mod conversation;
mod extract;
mod skill;
#[cfg(test)]
mod tests;

pub(crate) use conversation::MESSAGE_CHARS;
pub use conversation::{extract_summary, summarize_conversation};
pub use skill::{Summarized, Summary, summarize_skill};
