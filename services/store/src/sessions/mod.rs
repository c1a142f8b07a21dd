//! Sessions as rows: opening, turns, the log of a conversation.

mod join;
mod log;
mod open;
mod turn;

pub use join::{Joined, join};
pub use log::{
    FEEDBACK, Feedback, LoggedReply, Message, SessionFilter, add_feedback, add_reply, end, list, list_last_messages,
    list_messages, taint,
};
pub use open::{NewSession, Opened, OpenedAs, SessionKey, find, open, replace_snapshot};
pub use turn::{KeptTurn, ReadTurn, TurnState, WrittenTurn, find_turn, read_turn, write_turn};

use chrono::{DateTime, Utc};
use tokio_postgres::Row;
use uuid::Uuid;

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

/// How many columns [`session_of`] reads.
const SESSION_COLUMNS: usize = 14;

/// Reads the columns in the order of [`Session`]'s members, `tools` last.
fn session_of(row: &Row) -> Result<Session, tokio_postgres::Error> {
    Ok(Session {
        id: row.try_get(0)?,
        key: row.try_get(1)?,
        channel: row.try_get(2)?,
        max_turns: row.try_get(3)?,
        turns: row.try_get(4)?,
        index_budget: row.try_get(5)?,
        inline_top: row.try_get(6)?,
        tainted_by: row.try_get(7)?,
        quality: row.try_get(8)?,
        previous: row.try_get(9)?,
        started_at: row.try_get(10)?,
        last_message_at: row.try_get(11)?,
        ended_at: row.try_get(12)?,
        tools: row.try_get(13)?,
    })
}
