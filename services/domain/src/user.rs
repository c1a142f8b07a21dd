//! Users: the people whose agents a tenant runs.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::UserId;

/// One end user.
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
    /// First seen.
    pub created_at: DateTime<Utc>,
    /// Skills they keep.
    pub skill_count: i32,
    /// Bytes of them.
    pub byte_count: i64,
}
