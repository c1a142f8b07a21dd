//! Messages in a conversation.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{Error, MessageId, Result};

/// Maximum number of bytes in a message.
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

/// A message in a conversation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Message {
    /// Id of the message.
    #[schema(value_type = uuid::Uuid)]
    pub id: MessageId,
    /// Turn that the message belongs to.
    pub turn: i32,
    /// Side that wrote the message.
    #[schema(example = "user")]
    pub speaker: Speaker,
    /// Text of the message.
    pub text: String,
    /// Number of the agent's tool calls for this reply. For a message from the user, the number of calls since the
    /// previous turn.
    #[schema(minimum = 0)]
    pub tool_calls: i32,
    /// Number of rounds that the agent took for a reply, if it reported them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub rounds: Option<i32>,
    /// Tool calls for a reply, with their outcomes, if the agent reported them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tools: Vec<ToolCall>,
    /// Whether a reply used up the round budget of its message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub budget_spent: bool,
    /// Time at which the message was logged.
    pub at: DateTime<Utc>,
}

/// A tool call of an agent and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Name of the tool.
    #[schema(min_length = 1, max_length = 128, example = "calendar_create")]
    pub name: String,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Duration in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub ms: Option<u32>,
    /// Error message of a failed call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1000)]
    pub error: Option<String>,
}

/// Validates a message.
///
/// # Errors
/// `Invalid` if the message is empty or contains NUL, `TooLarge` if it has more than 64 KiB.
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
