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
