//! Endpoints of sessions, snapshots, conversations and memories.

mod conversations;
mod log;
pub mod memories;
mod open;
mod snapshots;
mod turns;

pub(super) use conversations::list_conversations;
pub(super) use log::{add_reply, end_session, give_feedback, list_messages, taint_session};
pub(super) use open::{get_session, list_sessions, open_session};
pub(super) use snapshots::{get_snapshot, refresh_snapshot};
pub(super) use turns::{get_turn, take_turn};
