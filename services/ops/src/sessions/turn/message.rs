//! Defines the message of a turn, with its options and their limits.

use std::time::Duration;

use knowhow_domain::recall::Judge;
use knowhow_domain::sessions::session::MAX_TURNS;
use knowhow_domain::{Error, FieldError, Result, check_message};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::sessions::{check_sources, check_text};

/// A message from the user.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"message": "send the report to Ann by mail", "turn_key": "msg-17"}))]
pub struct TakeTurn {
    /// The session id. It comes from the path, not from the body.
    #[serde(skip)]
    pub session: String,
    /// The user's message.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
    /// Key of the turn. A repeated request with the same key returns the answer to the same turn.
    #[schema(min_length = 1, max_length = 255)]
    pub turn_key: Option<String>,
    /// Number of tool calls that the agent made since the previous turn.
    #[schema(minimum = 0)]
    pub tool_calls: Option<u32>,
    /// Sources of untrusted content that the agent has read since the previous turn; they taint the session
    /// permanently.
    #[schema(max_items = 16)]
    pub tainted_by: Option<Vec<String>>,
    /// Whether the agent's prompt was compressed since the previous turn. Skills that it contained may then be shown
    /// again.
    pub context_reset: Option<bool>,
    /// Time for the search for skills, in milliseconds. If it passes, the answer lacks the late parts. By default
    /// 500, and 2,000 for a model that judges.
    #[schema(minimum = 1, maximum = 60_000)]
    pub deadline_ms: Option<u32>,
    /// Maximum number of rounds that the agent may use to answer this message; by default the session's.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
    /// Mode of judging the found skills with a chat model; by default the tenant's setting for the channel.
    pub judge: Option<Judge>,
}

impl TakeTurn {
    /// Returns the sources of untrusted content that the agent has read.
    pub(super) fn tainted_sources(&self) -> &[String] {
        self.tainted_by.as_deref().unwrap_or_default()
    }

    /// Returns the maximum number of rounds for this message; `None` if the session's maximum applies.
    pub(super) fn budget(&self) -> Option<i32> {
        self.max_turns.and_then(|rounds| i32::try_from(rounds).ok())
    }
}

/// Part of the deadline that is reserved for the steps after embedding the message.
const RESERVE: Duration = Duration::from_millis(10);

pub(super) fn check(input: &TakeTurn) -> Result<()> {
    check_message(&input.message)?;
    if let Some(key) = &input.turn_key {
        check_text("/turn_key", key, 255)?;
    }
    check_sources("/tainted_by", input.tainted_sources())?;
    let mut findings = Vec::new();
    if input.deadline_ms.is_some_and(|ms| !(1..=60_000).contains(&ms)) {
        findings.push(FieldError::new("/deadline_ms", "must be 1 to 60000"));
    }
    if let Some(rounds) = input.max_turns.filter(|rounds| !(1..=MAX_TURNS).contains(rounds)) {
        findings.push(FieldError::new("/max_turns", format!("must be 1 to {MAX_TURNS}, is {rounds}")));
    }
    if input.tool_calls.is_some_and(|calls| calls > i32::MAX as u32) {
        findings.push(FieldError::new("/tool_calls", "is out of bounds"));
    }
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}

/// Returns the maximum wait for the message's vector, from the beginning of the turn.
pub(super) fn patience(input: &TakeTurn) -> Duration {
    patience_or(input, 500)
}

/// Returns the maximum wait for a model that judges, from the beginning of the turn.
pub(super) fn judge_patience(input: &TakeTurn) -> Duration {
    patience_or(input, 2_000)
}

/// Returns the caller's deadline minus the reserve. The default deadline is `ms` milliseconds.
fn patience_or(input: &TakeTurn, ms: u32) -> Duration {
    let deadline = Duration::from_millis(u64::from(input.deadline_ms.unwrap_or(ms)));
    deadline.saturating_sub(RESERVE)
}

pub(super) fn other_message(input: &TakeTurn) -> Error {
    if input.turn_key.is_none() {
        return Error::IdempotencyMismatch;
    }
    Error::invalid("/turn_key", "was used for another message of this session; use a fresh key for each message")
}
