//! A conversation as input of a reflection: summary, judgements, and used skills.

use chrono::{DateTime, Utc};
use knowhow_domain::{ConversationSummary, SessionId, SkillId};
use uuid::Uuid;

use crate::vault::row;
use crate::vault::value::Summary;

/// A conversation of a day.
#[derive(Debug, Clone)]
pub struct DayConversation {
    pub id: SessionId,
    pub started_at: DateTime<Utc>,
    /// Untrusted sources that the conversation has read.
    pub tainted_by: Vec<String>,
    /// Summary of the conversation, if there is one.
    pub summary: Option<ConversationSummary>,
    /// Rating of the conversation: `good`, `fair` or `poor`; `None` if it was not rated.
    pub quality: Option<String>,
    pub corrections: i64,
    pub thumbs_up: i64,
    pub thumbs_down: i64,
    /// Notes in the judgements.
    pub notes: Vec<String>,
    /// Reported outcomes: the skill, its version, and `success`, `failure` or `partial`.
    pub outcomes: Vec<(String, i32, String)>,
    /// Skills used in the conversation.
    pub used: Vec<SkillId>,
}

row! {
    struct ConversationRow {
        session_id: Uuid, started_at: DateTime<Utc>, tainted_by: Vec<String>, summary: Option<Summary>,
        quality: Option<String>, corrections: i64, thumbs_up: i64, thumbs_down: i64, notes: Vec<String>,
        outcome_skills: Vec<String>, outcomes: Vec<String>,
        outcome_versions: Vec<i32>, used: Vec<Uuid>,
    }
}

impl From<ConversationRow> for DayConversation {
    fn from(row: ConversationRow) -> Self {
        Self {
            id: SessionId(row.session_id),
            started_at: row.started_at,
            tainted_by: row.tainted_by,
            summary: row.summary.map(Into::into),
            quality: row.quality,
            corrections: row.corrections,
            thumbs_up: row.thumbs_up,
            thumbs_down: row.thumbs_down,
            notes: row.notes,
            outcomes: row
                .outcome_skills
                .into_iter()
                .zip(row.outcome_versions)
                .zip(row.outcomes)
                .map(|((skill, version), outcome)| (skill, version, outcome))
                .collect(),
            used: row.used.into_iter().map(SkillId).collect(),
        }
    }
}
