//! What is used and kept of one user, and what all users of a tenant use.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::User;

/// Days that use is told of.
pub const USE_DAYS: i64 = 30;

/// A user with what is kept, and what was used.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UserDetail {
    #[serde(flatten)]
    pub user: User,
    pub stored: StoredOfUser,
    pub used: Used,
}

/// What is kept of one user. Each number stands beside a bound of the settings or of docs/limits.md; skills as they are now are told with
/// the user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StoredOfUser {
    /// Versions of skills, current ones and those of deleted skills among them.
    pub versions: i64,
    /// Deleted skills that can be restored.
    pub archived: i64,
    pub memories: i64,
    /// Conversations, open ones among them.
    pub sessions: i64,
    pub open_sessions: i64,
    pub turns: i64,
    /// What the user and agents said, and what they were told between.
    pub messages: i64,
    pub snapshots: i64,
    /// Answers that are kept for an `Idempotency-Key`.
    pub idempotency_answers: i64,
    /// Changes that wait for a person or a model.
    pub waiting_submissions: i64,
    /// Runs of dreams, with their questions and answers.
    pub dream_runs: i64,
    /// Messages that skills learned from.
    pub examples: i64,
    /// Entries of the audit log.
    pub audit_entries: i64,
}

/// What was used in the last 30 days, of what is kept still.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Used {
    /// Conversations that began.
    pub sessions: i64,
    pub turns: i64,
    /// Times a skill was loaded.
    pub skill_views: i64,
    /// Times a use of a skill was reported.
    pub skill_uses: i64,
    /// Tokens of a chat model that dreams took.
    pub dream_tokens: i64,
    /// The last message of a conversation.
    pub last_message_at: Option<DateTime<Utc>>,
}

/// What all users of a tenant used in the last 30 days. A number is of at most 1,000,000 rows.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UsedByTenant {
    /// Users with a conversation.
    pub active_users: i64,
    #[serde(flatten)]
    pub used: Used,
}
