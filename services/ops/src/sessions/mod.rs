//! What can be done with sessions: opened, turned, judged, ended, read again.

mod compose;
mod frozen;
mod full;
mod join;
mod kept;
mod list;
mod log;
mod nudge;
mod open;
mod terms;
mod tool_calls;
mod turn;
mod view;

pub use frozen::get_frozen_text;
pub use full::FullUsers;
pub use join::{Opens, Standing, join_session, join_session_by_tool, mark_session};
pub use list::{ListMessages, ListSessions, get_session, list_messages, list_sessions};
pub use log::{
    AddReply, GiveFeedback, Logged, REPLIES, TaintSession, add_reply, end_session, give_feedback, taint_session,
};
pub use open::{OpenSession, OpenedSession, open_session};
pub use tool_calls::ToolCalls;
pub use turn::{GetTurn, TakeTurn, get_turn, take_turn};
pub use view::{ActiveView, ExcludedView, MissingView, RelatedView, RelevantView, TooLongView, TurnAnswer};

use knowhow_domain::{Error, Result, SessionId};

/// Most bytes of one conversation's messages and turns.
pub const LOG_BYTES: i64 = 8 * 1024 * 1024;

/// Bytes that the log of a conversation may have where it is to take a message of so many.
fn most_log_bytes(message: usize) -> i64 {
    LOG_BYTES.saturating_sub(i64::try_from(message).unwrap_or(i64::MAX))
}

/// Whether the log of a conversation, of so many bytes, takes another message.
fn check_log(log_bytes: i64, message: usize) -> Result<()> {
    if log_bytes <= most_log_bytes(message) { Ok(()) } else { Err(log_full()) }
}

fn log_full() -> Error {
    let detail = format!(
        "the log of this conversation is full: it holds at most {} MiB; end it, and open its key again",
        LOG_BYTES >> 20
    );
    Error::Conflict { code: "log-full", detail }
}

/// Sessions are called by id alone; a text that is no id is no session.
fn session_id(id: &str) -> Result<SessionId> {
    id.trim().parse().map_err(|_| missing())
}

fn missing() -> Error {
    Error::not_found("session")
}

/// Sources of untrusted content, as callers name them: at most 16 at a time.
fn check_sources(pointer: &str, sources: &[String]) -> Result<()> {
    if sources.len() > 16 {
        return Err(Error::invalid(pointer, "takes at most 16 sources"));
    }
    let named = |(place, source): (usize, &String)| check_text(&format!("{pointer}/{place}"), source, 255);
    sources.iter().enumerate().try_for_each(named)
}

/// A short text of a caller's: no control characters, bounded.
fn check_text(pointer: &str, text: &str, most: usize) -> Result<()> {
    let length = text.chars().count();
    if length == 0 || length > most || text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        let detail = format!("must have 1 to {most} characters and no control characters, has {length}");
        return Err(Error::invalid(pointer, detail));
    }
    Ok(())
}
