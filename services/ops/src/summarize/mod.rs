//! What a skill and a conversation come down to: by a model's words, else by their own.

mod conversation;
mod extract;
mod skill;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use conversation::MESSAGE_CHARS;
pub use conversation::{ConversationSummary, LastMessage, Speaker, summarize_conversation};
pub use skill::{Summarized, Summary, summarize_skill};

/// Who wrote a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MadeBy {
    /// A chat model.
    Model,
    /// Nobody: these are words of the text itself.
    Extract,
}

impl MadeBy {
    /// The name in JSON and in the database.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Extract => "extract",
        }
    }
}
