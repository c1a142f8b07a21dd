//! Sessions: their limits, and where one conversation ends and the next begins.

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
    /// Turns it may have.
    #[schema(minimum = 1)]
    pub max_turns: i32,
    /// Turns it has had.
    #[schema(minimum = 0)]
    pub turns: i32,
    /// Turns that are left.
    #[schema(minimum = 0)]
    pub turns_left: i32,
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

/// Most turns that a session may be opened with.
pub const MAX_TURNS: u32 = 1_000;

/// Minutes of silence that end a conversation where the tenant does not say otherwise; exactly this long does not.
pub const GAP_MINUTES: u32 = 360;

/// Most turns between two reminders to save what was learned.
const NUDGE_EVERY: i32 = 10;

/// Whether a turn, from 1, reminds of saving: every 10 turns, and half-way through a session that has no more than that,
/// as after its last turn the agent may be gone. Not in the first turn, in which nothing was solved yet.
pub fn is_nudge_due(turn: i32, max_turns: i32) -> bool {
    let half = (max_turns / 2 + max_turns % 2).max(2);
    turn % NUDGE_EVERY == 0 || max_turns <= NUDGE_EVERY && turn == half && turn < max_turns
}

/// Whether a turn, from 1, is the first of its session that reminds of saving.
pub fn is_first_nudge(turn: i32, max_turns: i32) -> bool {
    is_nudge_due(turn, max_turns) && !(1..turn).any(|before| is_nudge_due(before, max_turns))
}

/// Whether a conversation with its last message then has been silent for longer than `gap` now. One without a message has
/// not begun.
pub fn is_over(last_message_at: Option<DateTime<Utc>>, gap: TimeDelta, now: DateTime<Utc>) -> bool {
    last_message_at.is_some_and(|last| now - last > gap)
}

#[cfg(test)]
mod tests;
