//! Examples and counter-examples. A skill was used after an example, and did not apply to a counter-example.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::ExampleId;

/// An example or a counter-example. A message becomes an example if a skill is used after it, so that similar messages
/// find the skill. A message becomes a counter-example if the skill did not apply to it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Example {
    /// Id of the example, for deleting it.
    #[schema(value_type = uuid::Uuid)]
    pub id: ExampleId,
    /// The message, or its first 300 characters.
    #[schema(example = "send the report to Ann by mail")]
    pub message: String,
    /// Whether the skill did not apply to the message, so that similar messages rank it lower.
    pub counter_example: bool,
    /// Time of the first use, or of the first report that the skill did not apply.
    pub learned_at: DateTime<Utc>,
    /// Time of the last confirmation, by the same or a similar message.
    pub confirmed_at: DateTime<Utc>,
    /// Number of turns that confirmed the example.
    #[schema(minimum = 1)]
    pub confirmations: i32,
}
