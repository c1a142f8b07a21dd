//! Channels: how a conversation is held, and what that allows.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// How a conversation is held.
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
    /// Written, in an app.
    Chat,
    Voice,
    #[default]
    Sms,
    /// A task that runs by the clock.
    Scheduled,
    /// The agent speaks first.
    Nudge,
}

impl Channel {
    pub const ALL: [Self; 5] = [Self::Chat, Self::Voice, Self::Sms, Self::Scheduled, Self::Nudge];

    pub const NAMES: &[&str] = Self::VARIANTS;

    /// The word that is served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Rounds that an agent may take to answer one message, unless caller or tenant says otherwise.
    pub fn max_turns(self) -> u32 {
        match self {
            Self::Voice => 6,
            Self::Chat | Self::Sms => 10,
            Self::Scheduled => 15,
            Self::Nudge => 5,
        }
    }

    /// Characters of skill bodies that one turn may inject, likewise. A voice agent has a second for a turn.
    pub fn body_budget(self) -> u32 {
        match self {
            Self::Voice => 6_000,
            _ => 24_000,
        }
    }

    /// Most skills that a turn brings besides those that its message names, likewise: what is heard or read on a small
    /// screen must be less.
    pub fn relevant_skills(self) -> u32 {
        match self {
            Self::Voice => 3,
            Self::Sms | Self::Nudge => 4,
            Self::Chat | Self::Scheduled => 5,
        }
    }

    /// Whether all messages of a user come in one stream, so that nothing but silence tells conversations apart.
    pub fn is_single_stream(self) -> bool {
        matches!(self, Self::Voice | Self::Sms)
    }

    /// A session that is called by its id lives at least this long after its last message, whatever the conversation
    /// gap is. Where conversations have ids, a caller that comes back within a day finds its session as it was.
    pub fn least_silence(self) -> TimeDelta {
        if self.is_single_stream() { TimeDelta::zero() } else { TimeDelta::hours(24) }
    }
}

#[cfg(test)]
mod tests;
