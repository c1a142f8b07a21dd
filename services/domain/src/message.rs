//! Messages: what either side of a conversation says.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{Error, MessageId, Result};

/// Largest message, bytes.
const MESSAGE_BYTES: usize = 64 * 1024;

/// A side of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Speaker {
    /// The user of the agent.
    User,
    /// The agent that answers.
    Agent,
}

/// One message of a conversation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Message {
    /// The message's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: MessageId,
    /// The turn that it belongs to.
    pub turn: i32,
    /// Which side said it.
    #[schema(example = "user")]
    pub speaker: Speaker,
    /// The text of the message.
    pub text: String,
    /// Tools that the agent called: before a user's message, or for its own.
    #[schema(minimum = 0)]
    pub tool_calls: i32,
    /// Rounds that the agent took for a reply, if it reported them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub rounds: Option<i32>,
    /// The tool calls of a reply with their outcomes, if the agent reported them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tools: Vec<ToolCall>,
    /// Whether a reply spent the budget of its message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub budget_spent: bool,
    /// When it was logged.
    pub at: DateTime<Utc>,
}

/// A tool call of an agent and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The name of the tool.
    #[schema(min_length = 1, max_length = 128, example = "calendar_create")]
    pub name: String,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Milliseconds that the call took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub ms: Option<u32>,
    /// The error message of a call that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1000)]
    pub error: Option<String>,
}

/// A message that says something.
///
/// # Errors
/// `Invalid` for an empty one, `TooLarge` for one of more than 64 KiB.
pub fn check_message(message: &str) -> Result<&str> {
    if message.len() > MESSAGE_BYTES {
        return Err(Error::TooLarge { what: "the message".into(), limit: MESSAGE_BYTES as u64 });
    }
    let refused = |detail: &str| Err(Error::invalid("/message", detail));
    if message.contains('\0') {
        return refused("must not contain NUL");
    }
    if message.trim().is_empty() { refused("must not be empty") } else { Ok(message) }
}
