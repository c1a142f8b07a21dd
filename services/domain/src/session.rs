//! Sessions: channels, their limits, and where one conversation ends and the next begins.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a conversation is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Written, in an app.
    Chat,
    /// Spoken.
    Voice,
    /// Text messages.
    #[default]
    Sms,
    /// A task that runs by the clock.
    Scheduled,
    /// The agent speaks first.
    Nudge,
}

impl Channel {
    /// The wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Voice => "voice",
            Self::Sms => "sms",
            Self::Scheduled => "scheduled",
            Self::Nudge => "nudge",
        }
    }

    /// Reads the wire form; `None` for anything else.
    pub fn from_wire(text: &str) -> Option<Self> {
        [Self::Chat, Self::Voice, Self::Sms, Self::Scheduled, Self::Nudge].into_iter().find(|c| c.as_str() == text)
    }

    /// Turns of a session where neither caller nor tenant says otherwise.
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

    /// A longer silence ends a session on this channel. Where all messages of a user come in one stream, nothing but
    /// silence tells conversations apart; elsewhere a caller that comes back within a day finds its session as it was.
    pub fn longest_silence(self) -> TimeDelta {
        if SINGLE_STREAMS.contains(&self) { CONVERSATION_GAP } else { SESSION_GAP }
    }
}

/// The channels whose messages come in one stream.
pub const SINGLE_STREAMS: [Channel; 2] = [Channel::Voice, Channel::Sms];

/// Most turns that a session may be opened with.
pub const MAX_TURNS: u32 = 1_000;

/// A longer silence ends a conversation; exactly this long does not.
pub const CONVERSATION_GAP: TimeDelta = TimeDelta::hours(6);

/// The same for a session that is called by its id, on channels of more than one stream.
pub const SESSION_GAP: TimeDelta = TimeDelta::hours(24);

/// Turns between two reminders to save what was learned.
pub const NUDGE_EVERY: i32 = 10;

/// The reminder.
pub const NUDGE: &str = "Did you solve something complex? Save it with skill_save.";

/// Whether a conversation with its last message then has been silent for longer than `gap` now. One without a message has
/// not begun.
pub fn is_over(last_message_at: Option<DateTime<Utc>>, gap: TimeDelta, now: DateTime<Utc>) -> bool {
    last_message_at.is_some_and(|last| now - last > gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_hours_and_a_second_end_a_conversation() {
        let (last, gap) = (DateTime::UNIX_EPOCH, Channel::Voice.longest_silence());
        assert!(!is_over(Some(last), gap, last + TimeDelta::hours(6)));
        assert!(is_over(Some(last), gap, last + TimeDelta::hours(6) + TimeDelta::seconds(1)));
        assert!(!is_over(None, gap, last + TimeDelta::days(300)));
        assert!(!is_over(Some(last), Channel::Chat.longest_silence(), last + TimeDelta::hours(24)));
    }

    #[test]
    fn channels_have_the_documented_turns() {
        let turns = [(Channel::Voice, 6), (Channel::Sms, 10), (Channel::Scheduled, 15), (Channel::Nudge, 5)];
        assert!(turns.iter().all(|(channel, most)| channel.max_turns() == *most));
        assert_eq!(Channel::default(), Channel::Sms);
        assert!(turns.iter().all(|(c, _)| Channel::from_wire(c.as_str()) == Some(*c)));
    }
}
