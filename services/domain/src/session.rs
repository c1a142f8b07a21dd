//! Sessions: their budgets and reminders, and where one conversation ends and the next begins.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{Channel, SessionId, Tools};

/// A conversation, from its opening on.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Session {
    /// The session's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: SessionId,
    /// The stream it belongs to; its own id where the caller named none.
    #[schema(example = "+49301234567")]
    pub key: String,
    /// How it is held.
    pub channel: Channel,
    /// Rounds that the agent may take to answer one message. A round is one call of its model, with the tool calls that it asks
    /// for. A turn may override it.
    #[schema(minimum = 1)]
    pub max_turns: i32,
    /// Messages of the user so far.
    #[schema(minimum = 0)]
    pub turns: i32,
    /// Replies that spent their budget: they took `max_turns` rounds or more, or more than `max_turns` tool calls over MCP.
    #[schema(minimum = 0)]
    pub budgets_spent: i32,
    /// Characters of its index.
    #[serde(skip)]
    pub index_budget: i32,
    /// Whether the best recalled skill's body comes along.
    pub inline_top: bool,
    /// What its agent can call.
    pub tools: Tools,
    /// Whether it has read content that is not to be trusted; for good.
    pub tainted: bool,
    /// What that was: of many sources about the first 64.
    pub tainted_by: Vec<String>,
    /// `good`, `fair` or `poor`, where somebody said so.
    pub quality: Option<String>,
    /// The conversation before it under the same key.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub previous_session: Option<SessionId>,
    /// When it was opened.
    pub started_at: DateTime<Utc>,
    /// The last message of either side, or call over MCP that names the session.
    pub last_message_at: Option<DateTime<Utc>>,
    /// When it ended; none while it is open.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Largest `max_turns` of a session or a turn.
pub const MAX_TURNS: u32 = 1_000;

/// Minutes of silence that end a conversation where the tenant does not say otherwise; exactly this long does not.
pub const GAP_MINUTES: u32 = 360;

/// Returns the notice for a tool call past the budget of its message.
pub fn spent_notice(max_turns: i32) -> String {
    let rounds = if max_turns == 1 { "round" } else { "rounds" };
    format!(
        "The iteration budget of this message is spent: it allows {max_turns} {rounds}. Answer the user now with what you have."
    )
}

/// Turns from one reminder to save what was learned to the next.
const NUDGE_EVERY: i32 = 10;

/// Whether a turn, from 1, reminds of saving: every tenth does.
pub fn is_nudge_due(turn: i32) -> bool {
    turn % NUDGE_EVERY == 0
}

/// Whether a turn, from 1, is the first of its session that reminds of saving.
pub fn is_first_nudge(turn: i32) -> bool {
    turn == NUDGE_EVERY
}

/// Whether a conversation with its last message then has been silent for longer than `gap` now. One without a message has
/// not begun.
pub fn is_over(last_message_at: Option<DateTime<Utc>>, gap: TimeDelta, now: DateTime<Utc>) -> bool {
    last_message_at.is_some_and(|last| now - last > gap)
}

#[cfg(test)]
mod tests;
