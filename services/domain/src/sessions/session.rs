//! Sessions: their budgets and reminders, and the boundaries between conversations.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{Channel, SessionId, Tools};

/// A conversation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Session {
    /// Id of the session.
    #[schema(value_type = uuid::Uuid)]
    pub id: SessionId,
    /// Key of the stream that the conversation belongs to; by default the session's own id.
    #[schema(example = "+49301234567")]
    pub key: String,
    /// Channel of the conversation.
    pub channel: Channel,
    /// Maximum number of rounds that the agent may take to answer a message. A round is one call to its model with the
    /// resulting tool calls. A turn may override it.
    #[schema(minimum = 1)]
    pub max_turns: i32,
    /// Number of messages from the user so far.
    #[schema(minimum = 0)]
    pub turns: i32,
    /// Number of replies that used up their budget: they took `max_turns` rounds or more, or more than `max_turns` tool
    /// calls over MCP.
    #[schema(minimum = 0)]
    pub budgets_spent: i32,
    /// Maximum number of characters in the index.
    #[serde(skip)]
    pub index_budget: i32,
    /// Whether turns include the body of the best recalled skill.
    pub inline_top: bool,
    /// Tools of the agent.
    pub tools: Tools,
    /// Whether the session has read untrusted content. This is permanent.
    pub tainted: bool,
    /// Sources of the untrusted content; about the first 64 are stored.
    pub tainted_by: Vec<String>,
    /// Rating: `good`, `fair` or `poor`.
    pub quality: Option<String>,
    /// The previous conversation with the same key.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub previous_session: Option<SessionId>,
    /// Start time.
    pub started_at: DateTime<Utc>,
    /// Time of the last message from either side, or of the last call over MCP that names the session.
    pub last_message_at: Option<DateTime<Utc>>,
    /// End time; absent while the session is open.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Largest allowed `max_turns` for a session or a turn.
pub const MAX_TURNS: u32 = 1_000;

/// Default minutes of silence after which a conversation ends. Only a longer silence ends it.
pub const GAP_MINUTES: u32 = 360;

/// Returns the notice about a tool call beyond the budget of its message.
pub fn spent_notice(max_turns: i32) -> String {
    let rounds = if max_turns == 1 { "round" } else { "rounds" };
    format!(
        "The iteration budget of this message is spent: it allows {max_turns} {rounds}. Answer the user now with what you have."
    )
}

/// Number of turns between two reminders to save a skill.
const NUDGE_EVERY: i32 = 10;

/// Checks whether a turn, counted from 1, shows the reminder to save a skill. Every tenth turn does.
pub fn is_nudge_due(turn: i32) -> bool {
    turn % NUDGE_EVERY == 0
}

/// Checks whether a turn, counted from 1, is the first of its session with the reminder to save a skill.
pub fn is_first_nudge(turn: i32) -> bool {
    turn == NUDGE_EVERY
}

/// Checks whether a conversation has been silent for longer than `gap`. A conversation without a message has not begun,
/// so it is not over.
pub fn is_over(last_message_at: Option<DateTime<Utc>>, gap: TimeDelta, now: DateTime<Utc>) -> bool {
    last_message_at.is_some_and(|last| now - last > gap)
}

#[cfg(test)]
mod tests;
