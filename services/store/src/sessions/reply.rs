//! Logs the agent's replies in an open session, within the limits of its log.

use chrono::{DateTime, Utc};
use knowhow_domain::{Channel, Error, Result, SessionId, ToolCall, new_id};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

/// Result of logging a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedReply {
    /// The reply belongs to this turn. `replies` is the number of replies in the turn, including this one.
    InTurn { turn: i32, replies: i32 },
    /// The turn has the maximum number of replies.
    TooMany,
    /// The log has its maximum size.
    LogFull,
}

/// A reply from the agent, and the limits of its session's log.
#[derive(Debug, Clone, Copy)]
pub struct NewReply<'a> {
    pub session: SessionId,
    pub text: &'a str,
    /// Number of tools that the agent called for the reply.
    pub tool_calls: i32,
    /// The tool calls with their outcomes, if the client reported them.
    pub tools: &'a [ToolCall],
    /// Number of rounds that the agent took, if the client reported it.
    pub rounds: Option<i32>,
    /// Time for each channel: a session without a message since then is over.
    pub silent_since: &'a [(Channel, DateTime<Utc>)],
    pub now: DateTime<Utc>,
    /// Maximum number of replies to a message.
    pub most_replies: i32,
    /// Maximum size of a session's log in bytes.
    pub most_bytes: i64,
}

row! { struct ReplyRow { too_many: bool, log_full: bool, turn: Option<i32>, replies: Option<i32> } }

// A reply exhausts the budget if it took the allowed number of rounds, or if the turn made more tool calls over MCP.
// `greatest` ignores null, which stands for unreported rounds.
statement! {
    write AddReply {
        session: Uuid, now: DateTime<Utc>, message_id: Uuid, text: String, tool_calls: i32, channels: Vec<&'static str>,
        silent_since: Vec<DateTime<Utc>>, most_replies: i32, most_bytes: i64, bytes: i64, rounds: Option<i32>, tools: String,
    } -> ReplyRow,
    "-- sessions.add_reply
    with open as (
        select s.session_id, s.turn_replies >= $10 as too_many, s.log_bytes + $12 > $11 as log_full,
               greatest($13::integer, s.turn_calls - 1) >= coalesce(s.turn_max_turns, s.max_turns) as budget_spent
        from sessions s
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.ended_at is null
          and not exists (select from unnest($8::text[], $9::timestamptz[]) as over (channel, since)
                          where over.channel = s.channel and s.last_message_at < over.since)
    ), talked as (
        update sessions s set last_message_at = greatest(s.last_message_at, $4), turn_replies = s.turn_replies + 1,
            log_bytes = s.log_bytes + $12, budgets_spent = s.budgets_spent + o.budget_spent::integer
        from open o
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.ended_at is null
          and not o.too_many and not o.log_full
        returning s.turns as number, o.budget_spent, s.turn_replies as replies
    ), logged as (
        insert into messages (tenant_id, user_id, session_id, message_id, turn, speaker, content, tool_calls, rounds, tools,
            budget_spent, at)
        select $1, $2, $3, $5, number, 'agent', $6::text, $7, $13, $14::text::jsonb, budget_spent, $4 from talked
        returning turn
    )
    select o.too_many as too_many, o.log_full as log_full, l.turn as turn, t.replies as replies
    from open o left join logged l on true left join talked t on true"
}

/// Logs a reply. Returns `None` if the session is not open or silence has ended it. Two concurrent replies may exceed
/// a limit by one.
pub async fn add_reply(tx: &mut WriteTx, new: &NewReply<'_>) -> Result<Option<LoggedReply>> {
    let (channels, silent_since) = new.silent_since.iter().map(|(channel, since)| (channel.as_str(), *since)).unzip();
    let tools = serde_json::to_string(new.tools).map_err(Error::internal)?;
    let bytes = new.text.len() + if new.tools.is_empty() { 0 } else { tools.len() };
    let reply = AddReply {
        session: new.session.0,
        now: new.now,
        message_id: new_id(),
        text: new.text.to_owned(),
        tool_calls: new.tool_calls,
        channels,
        silent_since,
        most_replies: new.most_replies,
        most_bytes: new.most_bytes,
        bytes: i64::try_from(bytes).map_err(Error::internal)?,
        rounds: new.rounds,
        tools,
    };
    Ok(tx.write(reply).await?.into_iter().next().and_then(|row| match (row.turn, row.too_many, row.log_full) {
        (Some(turn), ..) => Some(LoggedReply::InTurn { turn, replies: row.replies.unwrap_or_default() }),
        (None, true, _) => Some(LoggedReply::TooMany),
        (None, _, true) => Some(LoggedReply::LogFull),
        // The session ended while this statement waited for its row.
        (None, ..) => None,
    }))
}
