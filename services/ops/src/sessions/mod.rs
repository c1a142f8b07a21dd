//! Operations on sessions: open, resume, take turns, log replies and feedback, summarize, and end.

mod compose;
pub mod conversations;
mod frozen;
mod join;
mod list;
mod log;
pub mod memories;
mod nudge;
mod open;
pub mod snapshots;
pub mod soul;
mod stored_answers;
pub mod summarize;
mod terms;
mod tool_calls;
mod turn;
mod view;

pub use frozen::get_frozen_text;
pub use join::{NamedSession, OpenableNames, join_session, join_session_by_tool, mark_session};
pub use list::{ListMessages, ListSessions, get_session, list_messages, list_recent_texts, list_sessions};
pub use log::{
    AddReply, GiveFeedback, Logged, REPLIES, TaintSession, add_reply, end_session, give_feedback, taint_session,
};
pub use open::{OpenSession, OpenedSession, open_session};
pub use tool_calls::ToolCalls;
pub use turn::{GetTurn, TakeTurn, get_turn, take_turn};
pub use view::{ActiveView, ExcludedView, MissingView, RelatedView, RelevantView, TooLongView, TurnAnswer};

use knowhow_domain::{Error, Result, SessionId};

/// Maximum number of bytes in all messages and answers in the log of one session.
pub const LOG_BYTES: i64 = 8 * 1024 * 1024;

/// Returns the maximum size of a log, in bytes, that leaves space for a message of `message` bytes.
fn most_log_bytes(message: usize) -> i64 {
    LOG_BYTES.saturating_sub(i64::try_from(message).unwrap_or(i64::MAX))
}

/// Checks that the log has space for another message.
fn check_log(log_bytes: i64, message: usize) -> Result<()> {
    if log_bytes <= most_log_bytes(message) { Ok(()) } else { Err(log_full()) }
}

fn log_full() -> Error {
    let detail = format!(
        "the log of this conversation is full (at most {} MiB); end it, and open its key again",
        LOG_BYTES >> 20
    );
    Error::Conflict { code: "log-full", detail }
}

/// Parses a session id. An invalid id gives the error for an unknown session.
fn session_id(id: &str) -> Result<SessionId> {
    id.trim().parse().map_err(|_| missing())
}

fn missing() -> Error {
    Error::not_found("session")
}

/// Validates the names of sources of untrusted content: at most 16 per request, each of 1 to 255 characters.
fn check_sources(pointer: &str, sources: &[String]) -> Result<()> {
    if sources.len() > 16 {
        return Err(Error::invalid(pointer, "takes at most 16 sources"));
    }
    let named = |(place, source): (usize, &String)| check_text(&format!("{pointer}/{place}"), source, 255);
    sources.iter().enumerate().try_for_each(named)
}

/// Checks that a text has 1 to `most` characters, and no control characters except newline and tab.
fn check_text(pointer: &str, text: &str, most: usize) -> Result<()> {
    let length = text.chars().count();
    if length == 0 || length > most || text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        let detail = format!("must have 1 to {most} characters and no control characters, has {length}");
        return Err(Error::invalid(pointer, detail));
    }
    Ok(())
}
