//! What is in effect on a channel: its own setting, else the tenant's or the service's.

use chrono::TimeDelta;

use super::TenantSettings;
use crate::{Channel, Tools};

impl TenantSettings {
    /// Rounds that an agent may take to answer one message on a channel.
    pub fn max_turns(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.max_turns).unwrap_or_else(|| channel.max_turns())
    }

    /// Characters of the skill index on a channel.
    pub fn index_budget(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.index_budget).unwrap_or(self.index_budget)
    }

    /// Characters of skill bodies that one turn on a channel may inject.
    pub fn body_budget(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.body_budget).unwrap_or_else(|| channel.body_budget())
    }

    /// Most skills that a turn on a channel brings besides those that its message names.
    pub fn relevant_skills(&self, channel: Channel) -> u32 {
        self.channels.get(&channel).and_then(|c| c.relevant_skills).unwrap_or_else(|| channel.relevant_skills())
    }

    /// How likely a message on a channel must ask for a skill at all.
    pub fn min_score(&self, channel: Channel) -> f32 {
        self.channels.get(&channel).and_then(|c| c.min_score).unwrap_or(self.min_score)
    }

    /// What the agents on a channel can call.
    pub fn tools(&self, channel: Channel) -> Tools {
        self.channels.get(&channel).and_then(|c| c.tools).unwrap_or_default()
    }

    /// A longer silence ends a conversation that is held on a channel: its key begins the next one.
    pub fn conversation_gap(&self, channel: Channel) -> TimeDelta {
        let minutes = self.channels.get(&channel).and_then(|c| c.session_gap_minutes);
        TimeDelta::minutes(minutes.unwrap_or(self.session_gap_minutes).into())
    }

    /// A longer silence ends a session that is called by its id.
    pub fn longest_silence(&self, channel: Channel) -> TimeDelta {
        self.conversation_gap(channel).max(channel.least_silence())
    }
}
