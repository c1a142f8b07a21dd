//! Sessions as rows: opening, turns, the log of a conversation.

mod join;
mod log;
mod open;
mod turn;

pub use join::{Joined, join};
pub use log::{
    FEEDBACK, Feedback, LoggedReply, SessionFilter, add_feedback, add_reply, end, list, list_last_messages,
    list_messages, taint,
};
pub use open::{NewSession, Opened, OpenedAs, SessionKey, find, open, replace_snapshot};
pub use turn::{KeptTurn, ReadTurn, TurnState, WrittenTurn, find_turn, read_turn, write_turn};

use knowhow_domain::{Channel, Session, Tools};
use tokio_postgres::Row;

use crate::word::Word;

/// How many columns [`session_of`] reads.
const SESSION_COLUMNS: usize = 14;

/// Reads the columns in the order of the statements in this folder.
fn session_of(row: &Row) -> Result<Session, tokio_postgres::Error> {
    let (max_turns, turns): (i32, i32) = (row.try_get(3)?, row.try_get(4)?);
    let tainted_by: Vec<String> = row.try_get(7)?;
    Ok(Session {
        id: row.try_get(0)?,
        key: row.try_get(1)?,
        channel: row.try_get::<_, Word<Channel>>(2)?.0,
        max_turns,
        turns,
        turns_left: (max_turns - turns).max(0),
        index_budget: row.try_get(5)?,
        inline_top: row.try_get(6)?,
        tainted: !tainted_by.is_empty(),
        tainted_by,
        quality: row.try_get(8)?,
        previous_session: row.try_get(9)?,
        started_at: row.try_get(10)?,
        last_message_at: row.try_get(11)?,
        ended_at: row.try_get(12)?,
        tools: row.try_get::<_, Word<Tools>>(13)?.0,
    })
}
