//! Examples: messages after which a skill was used. Counter-examples: messages to which it did not apply.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::ExampleId;

/// A message after which a skill was used, so that messages like it find the skill; or a counter-example.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Example {
    /// The example's id, by which it can be deleted.
    #[schema(value_type = uuid::Uuid)]
    pub id: ExampleId,
    /// The message, its first 300 characters at most.
    #[schema(example = "send the report to Ann by mail")]
    pub message: String,
    /// Whether the skill did not apply to the message, so that messages like it do not find the skill.
    pub counter_example: bool,
    /// When the skill was first used after it, or first did not apply.
    pub learned_at: DateTime<Utc>,
    /// When last, after it or one that says the same.
    pub confirmed_at: DateTime<Utc>,
    /// In how many turns.
    #[schema(minimum = 1)]
    pub confirmations: i32,
}
