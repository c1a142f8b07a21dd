//! Feedback: how a session, and how the use of a skill turned out.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// What a judgement of a session says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FeedbackKind {
    /// The user put the agent right.
    Correction,
    /// Well done.
    ThumbsUp,
    /// Not well done.
    ThumbsDown,
    /// The session as a whole.
    Quality,
}

impl FeedbackKind {
    /// The stored and served form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How the use of a skill turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// It did what it was for.
    Success,
    /// It did not.
    Failure,
    /// In part.
    Partial,
    /// The skill was not for this message. Counts no use, and recall brings the skill less for messages like it.
    Inapplicable,
}

impl Outcome {
    /// The stored and served form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
