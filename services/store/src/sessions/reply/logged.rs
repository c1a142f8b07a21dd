//! A reply of the agent that is to be logged, with the bounds of its session's log, and what became of it.

use chrono::{DateTime, Utc};
use knowhow_domain::{Channel, SessionId};

/// What became of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedReply {
    /// It belongs to this turn.
    InTurn(i32),
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
    /// When silence has ended a session of each channel: one without a message since then is over.
    pub silent_since: &'a [(Channel, DateTime<Utc>)],
    /// When it is logged.
    pub now: DateTime<Utc>,
    /// Most replies to a message.
    pub most_replies: i32,
    /// Most bytes of a session's log.
    pub most_bytes: i64,
}
