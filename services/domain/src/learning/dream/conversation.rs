//! Judges how a conversation went, and whether it solved a problem without a skill.

/// Minimum number of tool calls in a conversation that solved a problem by trying.
const TELLING_CALLS: i64 = 5;

/// Facts from a conversation's log that show how it went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConversationFacts<'a> {
    /// Whether the conversation used or saved a skill.
    pub has_skill: bool,
    pub tool_calls: i64,
    /// Number of times the user corrected the agent.
    pub corrections: i64,
    pub thumbs_up: i64,
    pub thumbs_down: i64,
    /// Rating `good`, `fair` or `poor`; `None` if the conversation was not rated.
    pub quality: Option<&'a str>,
}

impl ConversationFacts<'_> {
    /// Returns whether the ratings are bad: quality `poor`, or more thumbs down than up.
    pub fn has_failed(&self) -> bool {
        self.quality == Some("poor") || self.thumbs_down > self.thumbs_up
    }

    /// Returns whether the ratings are good: quality `good`, or more thumbs up than down. A bad rating overrides
    /// them.
    pub fn went_well(&self) -> bool {
        let is_liked = self.thumbs_up > self.thumbs_down || self.quality == Some("good");
        is_liked && !self.has_failed()
    }

    /// Returns whether the conversation solved a problem without a skill: with many tool calls, or with corrections
    /// and a good rating.
    pub fn is_solved_alone(&self) -> bool {
        let is_overcome = self.corrections > 0 && self.went_well();
        !self.has_skill && !self.has_failed() && (self.tool_calls >= TELLING_CALLS || is_overcome)
    }
}

#[cfg(test)]
mod tests;
