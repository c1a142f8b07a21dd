//! Examples: messages after which a skill was used.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::ExampleId;

/// A message after which a skill was used: messages like it find the skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Example {
    /// The example's id, by which it can be deleted.
    #[schema(value_type = uuid::Uuid)]
    pub id: ExampleId,
    /// The message, its first 300 characters at most.
    #[schema(example = "send the report to Ann by mail")]
    pub message: String,
    /// When the skill was first used after it.
    pub learned_at: DateTime<Utc>,
    /// When last, after it or one that says the same.
    pub confirmed_at: DateTime<Utc>,
    /// In how many turns.
    #[schema(minimum = 1)]
    pub confirmations: i32,
}
