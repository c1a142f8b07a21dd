//! Sessions as rows: opening, turns, the log of a conversation.

pub(crate) mod join;
pub(crate) mod log;
pub(crate) mod open;
pub(crate) mod turn;

pub use join::{Joined, join};
pub use log::{
    FEEDBACK, Feedback, LoggedReply, Message, SessionFilter, add_feedback, add_reply, end, list, list_last_messages,
    list_messages, taint,
};
pub use open::{NewSession, Opened, OpenedAs, SessionKey, find, open, replace_snapshot};
pub use turn::{KeptTurn, ReadTurn, TurnState, WrittenTurn, find_turn, read_turn, write_turn};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::vault::row;

/// One conversation.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its id.
    pub id: Uuid,
    /// The caller's name for the stream it belongs to.
    pub key: String,
    /// `chat`, `voice`, `sms`, `scheduled` or `nudge`.
    pub channel: String,
    /// Turns it may have.
    pub max_turns: i32,
    /// Turns it has had.
    pub turns: i32,
    /// Characters of its index.
    pub index_budget: i32,
    /// Whether the best recalled skill's body comes along.
    pub inline_top: bool,
    /// What its agent can call: `full`, `read` or `none`.
    pub tools: String,
    /// What it read that is not to be trusted.
    pub tainted_by: Vec<String>,
    /// `good`, `fair` or `poor`, where somebody said so.
    pub quality: Option<String>,
    /// The conversation before it under the same key.
    pub previous: Option<Uuid>,
    /// Opened.
    pub started_at: DateTime<Utc>,
    /// The last message of either side, or call that came from it.
    pub last_message_at: Option<DateTime<Utc>>,
    /// Over since.
    pub ended_at: Option<DateTime<Utc>>,
}

row! {
    Session {
        id: Uuid = session_id, key: String, channel: String, max_turns: i32, turns: i32, index_budget: i32,
        inline_top: bool, tainted_by: Vec<String>, quality: Option<String>, previous: Option<Uuid> = previous_session_id,
        started_at: DateTime<Utc>, last_message_at: Option<DateTime<Utc>>, ended_at: Option<DateTime<Utc>>,
        tools: String,
    }
}
