//! Feedback on sessions and on uses of skills.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// Kind of feedback on a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FeedbackKind {
    /// The user corrected the agent.
    Correction,
    /// Positive feedback.
    ThumbsUp,
    /// Negative feedback.
    ThumbsDown,
    /// A rating of the whole session.
    Quality,
}

impl FeedbackKind {
    /// Returns the name as stored and served.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Outcome of a skill's use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// Success.
    Success,
    /// Failure.
    Failure,
    /// Partial success.
    Partial,
    /// The skill did not apply to the message. Not counted as a use; recall ranks the skill lower for similar messages.
    Inapplicable,
}

impl Outcome {
    /// Returns the name as stored and served.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
