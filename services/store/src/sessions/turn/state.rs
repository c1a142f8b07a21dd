//! The initial state of a turn: the session's state, and the stored answer if the turn is a repetition.

use chrono::{DateTime, Utc};
use knowhow_domain::recall::Exchange;
use knowhow_domain::{Channel, SkillId, SnapshotId, Tools};
use serde_json::Value;
use uuid::Uuid;

use crate::skills::Revisions;
use crate::vault::{Word, row};

/// State of a session for a turn.
#[derive(Debug, Clone)]
pub struct TurnState {
    pub channel: Channel,
    /// Iteration budget per message.
    pub max_turns: i32,
    /// Number of turns so far.
    pub turns: i32,
    /// Whether the session has read untrusted content.
    pub is_tainted: bool,
    /// Whether turns include the body of the best recalled skill.
    pub inline_top: bool,
    /// Tools available to the session's agent.
    pub tools: Tools,
    /// Snapshot of the session.
    pub snapshot: SnapshotId,
    /// Time of the first rendering of its snapshot.
    pub snapshot_created_at: DateTime<Utc>,
    /// Shortened and omitted parts of the snapshot's index.
    pub snapshot_omitted: Value,
    /// Skills shown by name.
    pub listed: Vec<SkillId>,
    /// Skills shown in full.
    pub injected: Vec<SkillId>,
    /// Time of the last message; `None` before the first.
    pub last_message_at: Option<DateTime<Utc>>,
    /// End of the session; `None` while it is open.
    pub ended_at: Option<DateTime<Utc>>,
    /// Whether the user has starters without rows, see `skills/starters.rs`. Their uses cannot be counted yet.
    pub lent: bool,
    /// Whether one of the user's skills is tainted, or may have been tainted a moment ago.
    pub knows_taint: bool,
    /// Whether any of the user's skills are related, so that recalled skills may have neighbours.
    pub has_relations: bool,
    /// The user's current revisions.
    pub revisions: Revisions,
    /// Size of the session's messages and turns in bytes.
    pub log_bytes: i64,
    pub last: LastMessages,
    /// Digest of the request and stored answer of an earlier turn with the same key, if there is one.
    pub repeated: Option<(Vec<u8>, StoredTurn)>,
}

/// The last messages of a session, if they were requested.
#[derive(Debug, Clone, Default)]
pub struct LastMessages {
    /// The user's last message, or its beginning; `None` before the first message.
    pub message: Option<String>,
    /// The agent's last reply to that message, or its end; `None` before the reply.
    pub reply: Option<String>,
    /// Number of replies logged since the message.
    pub replies: i32,
}

impl LastMessages {
    /// Returns the agent's last reply with the message that it answers; `None` if there is no reply.
    pub fn exchange(&self) -> Option<Exchange> {
        let reply = self.reply.as_deref()?;
        Some(Exchange::of(self.message.as_deref().unwrap_or_default(), reply))
    }
}

row! {
    struct TurnStateRow {
        channel: Word<Channel>, max_turns: i32, turns: i32, inline_top: bool, listed: Vec<Uuid>, injected: Vec<Uuid>,
        last_message_at: Option<DateTime<Utc>>, ended_at: Option<DateTime<Utc>>, revision: i64, examples_revision: i64,
        is_tainted: bool, tools: Word<Tools>, snapshot_id: Uuid, snapshot_created_at: DateTime<Utc>, omitted: Value, lent: bool,
        knows_taint: bool, has_relations: bool, log_bytes: i64, replies: i32, last_message: Option<String>,
        last_reply: Option<String>,
    }
}

/// The stored answer to a turn.
#[derive(Debug, Clone)]
pub struct StoredTurn {
    /// The bytes sent to the client. If there is a digest, only the parts that are not stored elsewhere.
    pub answer: String,
    /// SHA-256 of the bytes sent to the client; `None` if `answer` contains exactly these bytes.
    pub digest: Option<Vec<u8>>,
    /// Whether any of the user's data that prompts can contain was marked as untrusted after the turn.
    pub is_marked_since: bool,
}

row! { StoredTurn { answer: String, digest: Option<Vec<u8>> = answer_digest, is_marked_since: bool } }
