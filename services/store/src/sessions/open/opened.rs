//! An open session with its snapshot, and how it was opened.

use chrono::{DateTime, Utc};
use knowhow_domain::{ConversationSummary, Session};

use crate::sessions::snapshots::Snapshot;
use crate::vault::row;
use crate::vault::value::Summary;

/// A session with its snapshot.
#[derive(Debug, Clone)]
pub struct Opened {
    pub session: Session,
    pub snapshot: Snapshot,
    /// Summary of the previous conversation, if it exists.
    pub previous_summary: Option<ConversationSummary>,
    /// Whether the previous conversation had read untrusted content.
    pub previous_tainted: bool,
    pub previous_started_at: Option<DateTime<Utc>>,
    /// Time at which the snapshot of a new session was rendered or confirmed to be current.
    pub rendered_at: Option<DateTime<Utc>>,
    /// Whether any of the user's data that snapshots can contain was marked as untrusted after the session began.
    pub is_marked_since: bool,
}

row! {
    struct OpenedSessionRow {
        previous_summary: Option<Summary>, previous_tainted: bool, previous_started_at: Option<DateTime<Utc>>,
        is_marked_since: bool,
    }
}

impl From<(Session, (Snapshot, OpenedSessionRow))> for Opened {
    fn from(found: (Session, (Snapshot, OpenedSessionRow))) -> Self {
        let (session, (snapshot, row)) = found;
        Self {
            session,
            snapshot,
            previous_summary: row.previous_summary.map(Into::into),
            previous_tainted: row.previous_tainted,
            previous_started_at: row.previous_started_at,
            rendered_at: None,
            is_marked_since: row.is_marked_since,
        }
    }
}

/// Result of opening a session.
pub enum OpenedAs {
    /// The open session with the key continues.
    GoneOn(Opened),
    /// A session that was opened earlier and never had a message, now with the new terms.
    Reused(Opened),
    /// A new session.
    New(Opened),
    /// The session was not opened, because the user's open sessions have reached the limit in number or size.
    Full,
}
