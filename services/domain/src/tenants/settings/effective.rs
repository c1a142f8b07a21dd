//! Effective settings for a channel: the channel's own value, otherwise the tenant's value or the service's default.

use chrono::TimeDelta;

use super::TenantSettings;
use crate::recall::Judge;
use crate::{Channel, Tools};

impl TenantSettings {
    /// Returns the maximum number of rounds that an agent on a channel may take to answer a message.
    pub fn max_turns(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.max_turns).unwrap_or_else(|| channel.max_turns())
    }

    /// Returns the maximum number of characters in the skill index on a channel.
    pub fn index_budget(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.index_budget).unwrap_or(self.index_budget)
    }

    /// Returns the maximum number of characters of skill bodies in a turn on a channel.
    pub fn body_budget(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.body_budget).unwrap_or_else(|| channel.body_budget())
    }

    /// Returns the maximum number of skills that a turn on a channel adds to the skills named in its message.
    pub fn relevant_skills(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.relevant_skills).unwrap_or_else(|| channel.relevant_skills())
    }

    /// Returns the minimum probability that a message on a channel asks for a skill.
    pub fn min_score(&self, channel: Channel) -> f32 {
        self.channels.get(&channel).and_then(|c| c.min_score).unwrap_or(self.min_score)
    }

    /// Returns the condition for judging the found skills in turns on a channel.
    pub fn judge(&self, channel: Channel) -> Judge {
        self.channels.get(&channel).and_then(|c| c.judge).unwrap_or(self.judge)
    }

    /// Returns whether a model may judge the turns of any channel.
    pub fn may_judge(&self) -> bool {
        Channel::ALL.iter().any(|channel| self.judge(*channel) != Judge::Off)
    }

    /// Returns the tools that an agent on a channel can call.
    pub fn tools(&self, channel: Channel) -> Tools {
        self.channels.get(&channel).and_then(|c| c.tools).unwrap_or_default()
    }

    /// Returns the silence after which a channel's conversation ends and its key starts a new one.
    pub fn conversation_gap(&self, channel: Channel) -> TimeDelta {
        let minutes = self.channels.get(&channel).and_then(|c| c.session_gap_minutes);
        TimeDelta::minutes(minutes.unwrap_or(self.session_gap_minutes).into())
    }

    /// Returns the silence after which a session called by its id ends.
    pub fn longest_silence(&self, channel: Channel) -> TimeDelta {
        self.conversation_gap(channel).max(channel.least_silence())
    }
}
