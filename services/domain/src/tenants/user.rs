//! End users of a tenant.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::UserId;

/// An end user of a tenant.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct User {
    /// Internal id, as in the logs.
    #[schema(value_type = uuid::Uuid)]
    pub id: UserId,
    /// Slug of the tenant.
    #[schema(example = "acme")]
    pub tenant: String,
    /// External id of the user, as assigned by the tenant.
    #[schema(example = "alice")]
    pub external_id: String,
    /// Time of the user's first request.
    pub created_at: DateTime<Utc>,
    /// Number of skills.
    pub skill_count: i32,
    /// Total size of these skills, in bytes.
    pub byte_count: i64,
    /// Total size of the skills with history and archive, in bytes.
    #[serde(default)]
    pub stored_bytes: i64,
    /// Time at which an admin put the user on hold. The user's data must not be erased from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<DateTime<Utc>>,
    /// Reason for the hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_reason: Option<String>,
    /// Time of the user's suspension by an admin. The user is rejected and the user's jobs wait from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<DateTime<Utc>>,
    /// Reason for the suspension, as shown to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_reason: Option<String>,
}
