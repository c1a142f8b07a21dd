//! Messages: what either side of a conversation says.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::MessageId;

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
    /// When it was logged.
    pub at: DateTime<Utc>,
}
