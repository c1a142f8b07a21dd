//! Sessions: opening, turns, and the log of a conversation.

pub(crate) mod by_admin;
pub(crate) mod by_key;
pub mod conversations;
pub(crate) mod exchange;
pub(crate) mod feedback;
pub(crate) mod find;
pub mod judge;
pub(crate) mod log;
pub mod memories;
pub(crate) mod open;
pub(crate) mod previous_conversation;
pub(crate) mod reply;
pub mod snapshots;
pub mod souls;
pub(crate) mod turn;

pub use by_admin::end as end_by_admin;
pub use by_key::{JoinedSession, SessionCall, join};
pub use exchange::{LastExchange, find_last_exchange};
pub use feedback::{FEEDBACK, Feedback, add_feedback};
pub use find::find;
pub use log::{
    ExcerptLimits, LoggedMessage, SessionFilter, end, list, list_last_messages, list_messages, list_recent_texts, taint,
};
pub use open::{NewSession, Opened, OpenedAs, open, replace_snapshot};
pub use previous_conversation::{PreviousConversation, find_before};
pub use reply::{LoggedReply, NewReply, add_reply};
pub use turn::{
    Assumed, LastMessages, ReadTurn, StoredTurn, TurnState, TurnToRead, WrittenTurn, find_turn, read_turn, write_turn,
};

use chrono::{DateTime, Utc};
use knowhow_domain::{Channel, Result, Session, SessionId, Tools};
use uuid::Uuid;

use crate::vault::statement::{Accepts, Columns, Reader};
use crate::vault::{Word, row};

row! {
    struct SessionRow {
        session_id: Uuid, key: String, channel: Word<Channel>, max_turns: i32, turns: i32, index_budget: i32,
        inline_top: bool, tainted_by: Vec<String>, quality: Option<String>, previous_session_id: Option<Uuid>,
        started_at: DateTime<Utc>, last_message_at: Option<DateTime<Utc>>, ended_at: Option<DateTime<Utc>>,
        tools: Word<Tools>, budgets_spent: i32,
    }
}

impl Columns for Session {
    fn add_to(columns: &mut Vec<(&'static str, Accepts)>) {
        SessionRow::add_to(columns);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let row = SessionRow::read(reader)?;
        Ok(Self {
            id: row.session_id.into(),
            key: row.key,
            channel: row.channel.0,
            max_turns: row.max_turns,
            turns: row.turns,
            budgets_spent: row.budgets_spent,
            index_budget: row.index_budget,
            inline_top: row.inline_top,
            tools: row.tools.0,
            tainted: !row.tainted_by.is_empty(),
            tainted_by: row.tainted_by,
            quality: row.quality,
            previous_session: row.previous_session_id.map(SessionId),
            started_at: row.started_at,
            last_message_at: row.last_message_at,
            ended_at: row.ended_at,
        })
    }
}
