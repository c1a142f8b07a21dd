//! The message that a turn begins with: what comes along with it, and within which bounds.

use std::time::Duration;

use knowhow_domain::session::MAX_TURNS;
use knowhow_domain::{Error, FieldError, Result, check_message};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::sessions::{check_sources, check_text};

/// A message of the user.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"message": "send the report to Ann by mail", "turn_key": "msg-17"}))]
pub struct TakeTurn {
    /// The session, by id: of the path, not of the body.
    #[serde(skip)]
    pub session: String,
    /// What the user said.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
    /// Names the turn: the same key again is the same turn, with the same answer.
    #[schema(min_length = 1, max_length = 255)]
    pub turn_key: Option<String>,
    /// Tools that the agent called since the turn before.
    #[schema(minimum = 0)]
    pub tool_calls: Option<u32>,
    /// What the agent has read since the turn before that is not to be trusted; marks the session for good.
    #[schema(max_items = 16)]
    pub tainted_by: Option<Vec<String>>,
    /// The agent's prompt was compressed: what it was shown may be shown again.
    pub context_reset: Option<bool>,
    /// Milliseconds that looking for skills may take; the answer then does without what is late. 500 by default.
    #[schema(minimum = 1, maximum = 60_000)]
    pub deadline_ms: Option<u32>,
    /// Rounds that the agent may take to answer this message; by default the session's.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
}

impl TakeTurn {
    /// What the agent has read that is not to be trusted.
    pub(super) fn tainted_sources(&self) -> &[String] {
        self.tainted_by.as_deref().unwrap_or_default()
    }

    /// The budget of rounds for this message, if it overrides that of the session.
    pub(super) fn budget(&self) -> Option<i32> {
        self.max_turns.and_then(|rounds| i32::try_from(rounds).ok())
    }
}

/// What is left of the deadline for everything after the message's vector.
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

/// How long the message's vector is waited for.
pub(super) fn patience(input: &TakeTurn) -> Duration {
    let deadline = Duration::from_millis(u64::from(input.deadline_ms.unwrap_or(500)));
    deadline.saturating_sub(RESERVE)
}

pub(super) fn other_message(input: &TakeTurn) -> Error {
    if input.turn_key.is_none() {
        return Error::IdempotencyMismatch;
    }
    Error::invalid("/turn_key", "was used for another message of this session; use a fresh key for each message")
}
