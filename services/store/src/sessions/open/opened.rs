//! A session that is open, with what it began with, and which of the ways to open one it came by.

use chrono::{DateTime, Utc};
use knowhow_domain::{ConversationSummary, Session};

use crate::snapshots::Snapshot;
use crate::vault::row;
use crate::vault::value::Summary;

/// A session with what it began with.
#[derive(Debug, Clone)]
pub struct Opened {
    pub session: Session,
    pub snapshot: Snapshot,
    /// The summary of the conversation before, once it is made.
    pub previous_summary: Option<ConversationSummary>,
    /// Whether that had read what is not to be trusted.
    pub previous_tainted: bool,
    pub previous_started_at: Option<DateTime<Utc>>,
    /// Of a session that begins now: when its snapshot was rendered, or found to be as it would be rendered.
    pub rendered_at: Option<DateTime<Utc>>,
    /// Whether something that snapshots show was marked as untrusted since the session began.
    pub is_marked_since: bool,
}

row! {
    struct FoundRow {
        previous_summary: Option<Summary>, previous_tainted: bool, previous_started_at: Option<DateTime<Utc>>,
        is_marked_since: bool,
    }
}

impl From<(Session, (Snapshot, FoundRow))> for Opened {
    fn from(found: (Session, (Snapshot, FoundRow))) -> Self {
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

/// The outcome of opening.
pub enum OpenedAs {
    /// The open session of the key goes on.
    GoneOn(Opened),
    /// One that had been opened before without ever having a message, with the new terms.
    Reused(Opened),
    /// A new session.
    New(Opened),
    /// None: the user has as many open sessions, or as large ones, as can be.
    Full,
}
