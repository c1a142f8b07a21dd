//! Sentences in fifteen languages: what each means by the skill that it names.

use std::cell::Cell;

use super::*;
use crate::recall::{Catalogue, SkillText};

mod sentences;

/// The skills of these tests: two whose names are no ordinary words, and one whose name is.
const SKILLS: [&str; 3] = ["drop-tables", "mcp/send-invoice", "weather"];

/// The stance of a message to each of them; `None` to one that it does not name.
fn stances_to(message: &str) -> [Option<Stance>; 3] {
    let texts = SKILLS.map(|name| SkillText { name, ..SkillText::default() });
    let mentions = Catalogue::build(&texts).find_mentions(message);
    [0, 1, 2].map(|skill| mentions.iter().find(|mention| mention.skill == skill).map(|mention| mention.stance))
}

thread_local! {
    /// Tokens that this thread has looked at.
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Counts a look at a token.
pub(super) fn count_look() {
    LOOKS.set(LOOKS.get() + 1);
}

#[test]
fn the_work_grows_with_the_message_and_no_faster() {
    let catalogue = Catalogue::build(&SKILLS.map(|name| SkillText { name, ..SkillText::default() }));
    for piece in [
        "weather ",
        "weather, ",
        "don't use weather, ",
        "\"use weather\" ",
        "so the weather ",
        "weather と ",
        "not weather or ",
    ] {
        let looks = |bytes: usize| {
            LOOKS.set(0);
            let _ = catalogue.find_mentions(&piece.repeat(bytes / piece.len()));
            LOOKS.get()
        };
        let (small, large) = (looks(8 * 1024), looks(64 * 1024));
        assert!(large <= 9 * small, "{piece:?}: {small} and {large}");
        assert!(large < 300 * 64 * 1024 / piece.len(), "{piece:?}: {large}");
    }
}
