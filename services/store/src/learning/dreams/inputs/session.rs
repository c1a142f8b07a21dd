//! A conversation as input of a dream: the request, the outcome, and the used skills.

use chrono::{DateTime, Utc};
use knowhow_domain::{SessionId, SkillId};
use uuid::Uuid;

use crate::vault::row;

/// A conversation as input of a dream.
#[derive(Debug, Clone)]
pub struct DreamSession {
    pub id: SessionId,
    pub started_at: DateTime<Utc>,
    /// Untrusted sources that the conversation has read.
    pub tainted_by: Vec<String>,
    /// Rating of the conversation: `good`, `fair` or `poor`; `None` if it was not rated.
    pub quality: Option<String>,
    /// Beginning of the user's first message.
    pub first_message: String,
    pub tool_calls: i64,
    pub corrections: i64,
    pub thumbs_up: i64,
    pub thumbs_down: i64,
    /// Number of replies that exhausted the iteration budget.
    pub budgets_spent: i32,
    /// Notes given with corrections and thumbs down.
    pub notes: Vec<String>,
    /// Vector of the first message by the requested model, if it exists.
    pub vector: Option<Vec<f32>>,
    /// Skills used in the conversation.
    pub used: Vec<SkillId>,
    /// Whether a skill was saved or submitted in the conversation.
    pub has_saved: bool,
}

row! {
    struct DreamSessionRow {
        session_id: Uuid, started_at: DateTime<Utc>, tainted_by: Vec<String>, quality: Option<String>,
        first_message: String, tool_calls: i64, corrections: i64, thumbs_up: i64, thumbs_down: i64, budgets_spent: i32,
        notes: Vec<String>,
        vector: Option<Vec<f32>>, used: Vec<Uuid>, has_saved: bool,
    }
}

impl From<DreamSessionRow> for DreamSession {
    fn from(row: DreamSessionRow) -> Self {
        Self {
            id: SessionId(row.session_id),
            started_at: row.started_at,
            tainted_by: row.tainted_by,
            quality: row.quality,
            first_message: row.first_message,
            tool_calls: row.tool_calls,
            corrections: row.corrections,
            thumbs_up: row.thumbs_up,
            thumbs_down: row.thumbs_down,
            budgets_spent: row.budgets_spent,
            notes: row.notes,
            vector: row.vector,
            used: row.used.into_iter().map(SkillId).collect(),
            has_saved: row.has_saved,
        }
    }
}
