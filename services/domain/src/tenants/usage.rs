//! Stored data and usage of a user, and of all users of a tenant.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::User;

/// Number of days covered by usage counts.
pub const USE_DAYS: i64 = 30;

/// A user with stored data and usage.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UserDetail {
    #[serde(flatten)]
    pub user: User,
    pub stored: StoredOfUser,
    pub used: Used,
}

/// Amounts of stored data of a user. Each number has a limit in the settings or in docs/reference/limits.md. Current
/// skills are counted by `skill_count` and `byte_count`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StoredOfUser {
    /// Versions of skills, including current ones and those of deleted skills.
    pub versions: i64,
    /// Deleted skills that can be restored.
    pub archived: i64,
    pub memories: i64,
    /// Conversations, including open ones.
    pub sessions: i64,
    pub open_sessions: i64,
    pub turns: i64,
    /// Messages from the user and agents.
    pub messages: i64,
    pub snapshots: i64,
    /// Answers stored for an `Idempotency-Key`.
    pub idempotency_answers: i64,
    /// Changes that wait for a person or a model.
    pub waiting_submissions: i64,
    /// Runs of dreams, with their prompts and answers.
    pub dream_runs: i64,
    /// Examples and counter-examples, which are messages that skills learned from.
    pub examples: i64,
    /// Entries in the audit log.
    pub audit_entries: i64,
}

/// Usage in the last 30 days, of data that is still stored.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Used {
    /// Conversations that began.
    pub sessions: i64,
    pub turns: i64,
    /// Number of times that skills were loaded.
    pub skill_views: i64,
    /// Number of reported uses of skills.
    pub skill_uses: i64,
    /// Number of chat model tokens that dreams used.
    pub dream_tokens: i64,
    /// Number of chat model tokens that were used for judging skills.
    pub judge_tokens: i64,
    /// Time of the last message.
    pub last_message_at: Option<DateTime<Utc>>,
}

/// Usage of all users of a tenant in the last 30 days. Each number counts at most 1,000,000 rows.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UsedByTenant {
    /// Number of users with a conversation.
    pub active_users: i64,
    #[serde(flatten)]
    pub used: Used,
}
