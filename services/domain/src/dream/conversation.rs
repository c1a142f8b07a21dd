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
mod tests {
    use super::*;

    #[test]
    fn many_calls_or_a_correction_that_was_overcome_solve_something() {
        let called = Conversation { tool_calls: 5, ..Conversation::default() };
        assert!(called.is_solved_alone() && !Conversation { tool_calls: 4, ..called }.is_solved_alone());
        let corrected = Conversation { corrections: 1, ..Conversation::default() };
        assert!(!corrected.is_solved_alone());
        assert!(Conversation { thumbs_up: 1, ..corrected }.is_solved_alone());
        assert!(Conversation { quality: Some("good"), ..corrected }.is_solved_alone());
        assert!(!Conversation { quality: Some("fair"), ..corrected }.is_solved_alone());
        assert!(!Conversation { thumbs_up: 1, thumbs_down: 1, ..corrected }.is_solved_alone());
    }

    #[test]
    fn a_conversation_goes_well_where_somebody_says_so_and_nobody_says_otherwise() {
        let silent = Conversation::default();
        assert!(!silent.went_well() && !silent.has_failed());
        for (thumbs_up, thumbs_down, quality, went_well) in [
            (1, 0, None, true),
            (0, 0, Some("good"), true),
            (1, 1, None, false),
            (2, 1, Some("fair"), true),
            (1, 0, Some("poor"), false),
            (0, 1, Some("good"), false),
        ] {
            let conversation = Conversation { thumbs_up, thumbs_down, quality, ..silent };
            assert_eq!(conversation.went_well(), went_well, "{conversation:?}");
        }
    }

    #[test]
    fn what_failed_or_had_a_skill_solved_nothing_new() {
        let called = Conversation { tool_calls: 50, ..Conversation::default() };
        assert!(!Conversation { has_skill: true, ..called }.is_solved_alone());
        assert!(!Conversation { quality: Some("poor"), ..called }.is_solved_alone());
        assert!(!Conversation { thumbs_down: 1, ..called }.is_solved_alone());
        assert!(Conversation { thumbs_down: 1, thumbs_up: 1, ..called }.is_solved_alone());
    }
}
