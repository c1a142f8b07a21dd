//! What a turn starts from: the state of its session, and the answer that was kept where the same turn has been had.

use chrono::{DateTime, Utc};
use knowhow_domain::recall::Exchange;
use knowhow_domain::{Channel, SkillId, SnapshotId, Tools};
use serde_json::Value;
use uuid::Uuid;

use crate::skills::Revisions;
use crate::vault::{Word, row};

/// The state of a session, as a turn needs it.
#[derive(Debug, Clone)]
pub struct TurnState {
    pub channel: Channel,
    /// Its budget of rounds for one message.
    pub max_turns: i32,
    /// Turns it has had.
    pub turns: i32,
    /// Whether it has read what is not to be trusted.
    pub is_tainted: bool,
    /// Whether the best recalled skill's body comes along.
    pub inline_top: bool,
    /// What its agent can call.
    pub tools: Tools,
    /// Its snapshot.
    pub snapshot: SnapshotId,
    /// When the bytes of its snapshot were first rendered.
    pub snapshot_created_at: DateTime<Utc>,
    /// What of the snapshot's index was shortened and left out.
    pub snapshot_omitted: Value,
    /// Skills shown by name.
    pub listed: Vec<SkillId>,
    /// Skills shown whole.
    pub injected: Vec<SkillId>,
    /// When the last message came.
    pub last_message_at: Option<DateTime<Utc>>,
    /// When the session ended; `None` while it is open.
    pub ended_at: Option<DateTime<Utc>>,
    /// Whether the user has starters that are lent, so that no use of them can be counted yet.
    pub lent: bool,
    /// Whether any skill of the user is tainted, or may have been a moment ago.
    pub knows_taint: bool,
    /// Whether any of the user's skills are related, so that what is recalled may have neighbours.
    pub has_relations: bool,
    /// The user's revisions now.
    pub revisions: Revisions,
    /// Bytes of its messages and turns.
    pub log_bytes: i64,
    /// The last messages.
    pub last: LastMessages,
    /// The turn of the same key, where it has been had already: the digest of its request, and its answer.
    pub repeated: Option<(Vec<u8>, KeptTurn)>,
}

/// The last messages of a session, as far as they were read.
#[derive(Debug, Clone, Default)]
pub struct LastMessages {
    /// The user's last message, or its beginning.
    pub message: Option<String>,
    /// The agent's last reply to it, or its end.
    pub reply: Option<String>,
    /// Replies that the agent has logged since.
    pub replies: i32,
}

impl LastMessages {
    /// The agent's last reply with the message that it answers; `None` without a reply.
    pub fn exchange(&self) -> Option<Exchange> {
        let reply = self.reply.as_deref()?;
        Some(Exchange::of(self.message.as_deref().unwrap_or_default(), reply))
    }
}

row! {
    struct StateRow {
        channel: Word<Channel>, max_turns: i32, turns: i32, inline_top: bool, listed: Vec<Uuid>, injected: Vec<Uuid>,
        last_message_at: Option<DateTime<Utc>>, ended_at: Option<DateTime<Utc>>, revision: i64, examples_revision: i64,
        is_tainted: bool, tools: Word<Tools>, snapshot_id: Uuid, snapshot_created_at: DateTime<Utc>, omitted: Value, lent: bool,
        knows_taint: bool, has_relations: bool, log_bytes: i64, replies: i32, last_message: Option<String>,
        last_reply: Option<String>,
    }
}

/// The answer of a turn as it is stored.
#[derive(Debug, Clone)]
pub struct KeptTurn {
    /// The bytes that went out; or, where there is a digest, what of them is not stored elsewhere.
    pub answer: String,
    /// SHA-256 of the bytes that went out.
    pub digest: Option<Vec<u8>>,
    /// Whether something that prompts show was marked as untrusted since.
    pub is_marked_since: bool,
}

row! { KeptTurn { answer: String, digest: Option<Vec<u8>> = answer_digest, is_marked_since: bool } }
