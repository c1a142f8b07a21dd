use super::*;

#[test]
fn many_calls_or_corrections_with_a_good_rating_solve_a_problem() {
    let called = ConversationFacts { tool_calls: 5, ..ConversationFacts::default() };
    assert!(called.is_solved_alone() && !ConversationFacts { tool_calls: 4, ..called }.is_solved_alone());
    let corrected = ConversationFacts { corrections: 1, ..ConversationFacts::default() };
    assert!(!corrected.is_solved_alone());
    assert!(ConversationFacts { thumbs_up: 1, ..corrected }.is_solved_alone());
    assert!(ConversationFacts { quality: Some("good"), ..corrected }.is_solved_alone());
    assert!(!ConversationFacts { quality: Some("fair"), ..corrected }.is_solved_alone());
    assert!(!ConversationFacts { thumbs_up: 1, thumbs_down: 1, ..corrected }.is_solved_alone());
}

#[test]
fn a_conversation_went_well_with_good_and_without_bad_ratings() {
    let silent = ConversationFacts::default();
    assert!(!silent.went_well() && !silent.has_failed());
    for (thumbs_up, thumbs_down, quality, went_well) in [
        (1, 0, None, true),
        (0, 0, Some("good"), true),
        (1, 1, None, false),
        (2, 1, Some("fair"), true),
        (1, 0, Some("poor"), false),
        (0, 1, Some("good"), false),
    ] {
        let conversation = ConversationFacts { thumbs_up, thumbs_down, quality, ..silent };
        assert_eq!(conversation.went_well(), went_well, "{conversation:?}");
    }
}

#[test]
fn conversations_that_failed_or_used_a_skill_are_not_solved_alone() {
    let called = ConversationFacts { tool_calls: 50, ..ConversationFacts::default() };
    assert!(!ConversationFacts { has_skill: true, ..called }.is_solved_alone());
    assert!(!ConversationFacts { quality: Some("poor"), ..called }.is_solved_alone());
    assert!(!ConversationFacts { thumbs_down: 1, ..called }.is_solved_alone());
    assert!(ConversationFacts { thumbs_down: 1, thumbs_up: 1, ..called }.is_solved_alone());
}
