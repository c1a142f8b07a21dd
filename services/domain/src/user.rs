//! Users: the people whose agents a tenant runs.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::UserId;

/// An end user of a tenant.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct User {
    /// The id, as the logs name it.
    #[schema(value_type = uuid::Uuid)]
    pub id: UserId,
    /// Their tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// The tenant's own name for them.
    #[schema(example = "alice")]
    pub external_id: String,
    /// When the user was first seen.
    pub created_at: DateTime<Utc>,
    /// How many skills the user keeps.
    pub skill_count: i32,
    /// How large these are together, in bytes.
    pub byte_count: i64,
    /// How large they are with history and archive, in bytes.
    #[serde(default)]
    pub stored_bytes: i64,
    /// Since when nothing of the user may be erased, as an admin has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<DateTime<Utc>>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_reason: Option<String>,
    /// Since when the user is refused and the user's jobs wait, as an admin has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<DateTime<Utc>>,
    /// Why, as the user is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_reason: Option<String>,
}
