//! Logging what the agent said in a session that is open, within the bounds of its log.

use chrono::{DateTime, Utc};
use knowhow_domain::{Channel, Error, Result, SessionId, ToolCall, new_id};
use serde_json::Value;
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

/// What became of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedReply {
    /// It belongs to this turn, of whose replies it is the last.
    InTurn { turn: i32, replies: i32 },
    /// The turn has as many as can be.
    TooMany,
    /// The conversation's log takes no more bytes.
    LogFull,
}

/// A reply of the agent, and what its session's log has room for.
#[derive(Debug, Clone, Copy)]
pub struct NewReply<'a> {
    pub session: SessionId,
    /// What the agent says.
    pub text: &'a str,
    /// How many tools it has called for it.
    pub tool_calls: i32,
    /// These calls with their outcomes, if they were reported.
    pub tools: &'a [ToolCall],
    /// Rounds that it took, if they were reported.
    pub rounds: Option<i32>,
    /// When silence has ended a session of each channel: one without a message since then is over.
    pub silent_since: &'a [(Channel, DateTime<Utc>)],
    /// When it is logged.
    pub now: DateTime<Utc>,
    /// Most replies to a message.
    pub most_replies: i32,
    /// Most bytes of a session's log.
    pub most_bytes: i64,
    /// Bytes of the log that the reply takes.
    pub bytes: i64,
}

row! { struct ReplyRow { too_many: bool, log_full: bool, turn: Option<i32>, replies: Option<i32> } }

// A reply spends its budget with as many rounds as that allows, or with more tool calls over MCP. `greatest` ignores rounds that were
// not reported.
statement! {
    write AddReply {
        session: Uuid, now: DateTime<Utc>, message_id: Uuid, text: String, tool_calls: i32, channels: Vec<&'static str>,
        silent_since: Vec<DateTime<Utc>>, most_replies: i32, most_bytes: i64, bytes: i64, rounds: Option<i32>, tools: Value,
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
        select $1, $2, $3, $5, number, 'agent', $6::text, $7, $13, $14, budget_spent, $4 from talked
        returning turn
    )
    select o.too_many as too_many, o.log_full as log_full, l.turn as turn, t.replies as replies
    from open o left join logged l on true left join talked t on true"
}

/// Logs what the agent said; `None` where no such session is open, or silence has ended it. Two at the same moment may pass a limit by one.
///
/// # Errors
/// `Unavailable`.
pub async fn add_reply(tx: &mut WriteTx, new: &NewReply<'_>) -> Result<Option<LoggedReply>> {
    let (channels, silent_since) = new.silent_since.iter().map(|(channel, since)| (channel.as_str(), *since)).unzip();
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
        bytes: new.bytes,
        rounds: new.rounds,
        tools: serde_json::to_value(new.tools).map_err(Error::internal)?,
    };
    Ok(tx.write(reply).await?.into_iter().next().and_then(|row| match (row.turn, row.too_many, row.log_full) {
        (Some(turn), ..) => Some(LoggedReply::InTurn { turn, replies: row.replies.unwrap_or_default() }),
        (None, true, _) => Some(LoggedReply::TooMany),
        (None, _, true) => Some(LoggedReply::LogFull),
        // Ended while this waited for its row.
        (None, ..) => None,
    }))
}
