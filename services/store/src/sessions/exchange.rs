//! The last exchange in a session, which gives context to the user's question.

use knowhow_domain::recall::Exchange;
use knowhow_domain::{Result, SessionId};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal};

pub(super) const MESSAGE_CHARS: i32 = Exchange::MESSAGE_CHARS as i32;
pub(super) const REPLY_CHARS: i32 = Exchange::REPLY_CHARS as i32;

row! { struct ExchangeRow { asked: Option<String>, message: Option<String>, reply: Option<String> } }

// Messages are searched backwards from the last one, regardless of the number of replies to a user's message. A reply
// makes its offer at the end, so the end is read.
statement! {
    read FindExchange { session: Uuid, asks: bool, message_chars: i32, reply_chars: i32 } -> ExchangeRow,
    "-- sessions.find_last_exchange
    with asked as materialized (
        select m.message_id, m.content from messages m
        where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.speaker = 'user' and not $4
        order by m.message_id desc
        limit 1
    ), answered as materialized (
        select m.message_id, left(m.content, $5) as content from messages m
        where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.speaker = 'user'
          and ($4 or m.message_id < (select message_id from asked))
        order by m.message_id desc
        limit 1
    ), replied as materialized (
        select right(m.content, $6) as content from messages m
        where m.tenant_id = $1 and m.user_id = $2 and m.session_id = $3 and m.speaker = 'agent'
          and ($4 or m.message_id < (select message_id from asked))
          and m.message_id > coalesce((select message_id from answered), '00000000-0000-0000-0000-000000000000')
        order by m.message_id desc
        limit 1
    )
    select (select content from asked) as asked, (select content from answered) as message,
           (select content from replied) as reply
    from sessions s
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3"
}

/// A question in a session, with the exchange before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastExchange {
    /// The user's last message, if it is the question.
    pub asked: Option<String>,
    /// The user's previous message and the reply to it; `None` if there was no reply.
    pub before: Option<Exchange>,
}

/// Returns the exchange before the user's last message. If the caller `asks` a question of its own, returns the last
/// exchange in the session. Returns `None` if the session is not the caller's.
///
/// # Errors
/// `Unavailable`.
pub async fn find_last_exchange(
    db: &Database,
    principal: &Principal,
    session: SessionId,
    asks: bool,
) -> Result<Option<LastExchange>> {
    let find = FindExchange { session: session.0, asks, message_chars: MESSAGE_CHARS, reply_chars: REPLY_CHARS };
    Ok(read(db, principal, find).await?.into_iter().next().map(|row| LastExchange {
        asked: row.asked,
        before: row.reply.map(|reply| Exchange::of(&row.message.unwrap_or_default(), &reply)),
    }))
}
