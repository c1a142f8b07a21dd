//! How a conversation went, and whether something was worked out in it that no skill has.

/// So many tool calls make a conversation one in which something was worked out.
const TELLING_CALLS: i64 = 5;

/// A conversation that is looked back at: what its log tells of how it went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conversation<'a> {
    /// Whether a skill was used in it, or saved.
    pub has_skill: bool,
    pub tool_calls: i64,
    /// How often the user put the agent right.
    pub corrections: i64,
    pub thumbs_up: i64,
    pub thumbs_down: i64,
    /// `good`, `fair` or `poor`, where somebody said so.
    pub quality: Option<&'a str>,
}

impl Conversation<'_> {
    /// Whether it went badly, as far as somebody said.
    pub fn has_failed(&self) -> bool {
        self.quality == Some("poor") || self.thumbs_down > self.thumbs_up
    }

    /// Whether it went well, as far as somebody said: it is liked or judged good, and nobody said otherwise.
    pub fn went_well(&self) -> bool {
        let is_liked = self.thumbs_up > self.thumbs_down || self.quality == Some("good");
        is_liked && !self.has_failed()
    }

    /// Whether something was worked out without a skill: many tools were called, or the agent was put right and it went well
    /// in the end.
    pub fn is_solved_alone(&self) -> bool {
        let is_overcome = self.corrections > 0 && self.went_well();
        !self.has_skill && !self.has_failed() && (self.tool_calls >= TELLING_CALLS || is_overcome)
    }
}

#[cfg(test)]
mod tests;
