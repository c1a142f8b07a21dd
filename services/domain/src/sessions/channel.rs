//! Channels of conversations, and their default limits.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// Channel of a conversation.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    ToSchema,
    EnumString,
    IntoStaticStr,
    VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Channel {
    /// Text chat in an app.
    Chat,
    Voice,
    #[default]
    Sms,
    /// A scheduled task.
    Scheduled,
    /// The agent starts the conversation.
    Nudge,
}

impl Channel {
    pub const ALL: [Self; 5] = [Self::Chat, Self::Voice, Self::Sms, Self::Scheduled, Self::Nudge];

    pub const NAMES: &[&str] = Self::VARIANTS;

    /// Returns the name as served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the default maximum number of rounds that an agent may take to answer a message. A round is one call to
    /// its model with the resulting tool calls.
    pub fn max_turns(self) -> u32 {
        match self {
            Self::Voice => 6,
            Self::Chat | Self::Sms => 10,
            Self::Scheduled => 15,
            Self::Nudge => 5,
        }
    }

    /// Returns the default maximum number of characters of skill bodies in a turn. It is lower for voice, because a
    /// voice agent must answer within about a second.
    pub fn body_budget(self) -> u32 {
        match self {
            Self::Voice => 6_000,
            _ => 24_000,
        }
    }

    /// Returns the default maximum number of skills that a turn adds to the skills named in its message. The maximum is
    /// lower for speech and small screens.
    pub fn relevant_skills(self) -> u32 {
        match self {
            Self::Voice => 3,
            Self::Sms | Self::Nudge => 4,
            Self::Chat | Self::Scheduled => 5,
        }
    }

    /// Checks whether all messages from a user form one stream, so that only silence separates conversations.
    pub fn is_single_stream(self) -> bool {
        matches!(self, Self::Voice | Self::Sms)
    }

    /// Returns the minimum time that a session stays open after its last message if it is called by its id. A shorter
    /// conversation gap does not reduce it. It is a day, so that a returning caller finds the session again. On
    /// single-stream channels it is zero.
    pub fn least_silence(self) -> TimeDelta {
        if self.is_single_stream() { TimeDelta::zero() } else { TimeDelta::hours(24) }
    }
}

#[cfg(test)]
mod tests;
