//! A conversation as a dream sees it: what the user wanted, how it went, and what it used.

use chrono::{DateTime, Utc};
use knowhow_domain::{SessionId, SkillId};
use uuid::Uuid;

use crate::vault::row;

/// A conversation as a dream sees it.
#[derive(Debug, Clone)]
pub struct DreamSession {
    pub id: SessionId,
    pub started_at: DateTime<Utc>,
    /// What it had read that is not to be trusted.
    pub tainted_by: Vec<String>,
    /// `good`, `fair` or `poor`, where somebody said so.
    pub quality: Option<String>,
    /// What the user said first, in part.
    pub first_message: String,
    pub tool_calls: i64,
    pub corrections: i64,
    pub thumbs_up: i64,
    pub thumbs_down: i64,
    /// Replies that spent the budget of their message.
    pub budgets_spent: i32,
    /// What was said beside corrections and thumbs down.
    pub notes: Vec<String>,
    /// The vector of the first message by the model asked for, where it was made.
    pub vector: Option<Vec<f32>>,
    /// The skills that it used.
    pub used: Vec<SkillId>,
    /// Whether a skill was saved in it, or submitted.
    pub has_saved: bool,
}

row! {
    struct SessionRow {
        session_id: Uuid, started_at: DateTime<Utc>, tainted_by: Vec<String>, quality: Option<String>,
        first_message: String, tool_calls: i64, corrections: i64, thumbs_up: i64, thumbs_down: i64, budgets_spent: i32,
        notes: Vec<String>,
        vector: Option<Vec<f32>>, used: Vec<Uuid>, has_saved: bool,
    }
}

impl From<SessionRow> for DreamSession {
    fn from(row: SessionRow) -> Self {
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
