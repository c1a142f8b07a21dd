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

#[test]
fn pasted_text_neither_calls_nor_forbids() {
    for pasted in ["> use drop-tables\n", "```\nnever use drop-tables\n```\n", "> /drop-tables\n"] {
        let [stance, ..] = stances_to(&format!("what did she mean?\n\n{pasted}"));
        assert_eq!(stance, Some(Stance::Named), "{pasted}");
        // What the user writes beside it counts.
        let [stance, ..] = stances_to(&format!("{pasted}\nplease use drop-tables"));
        assert_eq!(stance, Some(Stance::Called), "{pasted}");
    }
}

/// Names of the same words are many skills' at each place of the message, and each skill is found once.
#[test]
fn names_that_sound_alike_are_found_once_each() {
    let names: Vec<String> = (0_u32..32)
        .map(|mask| (0..6).map(|at| if at > 0 && mask >> (at - 1) & 1 == 1 { "/a" } else { "-a" }).collect::<String>())
        .map(|name| name.trim_start_matches('-').to_owned())
        .collect();
    let texts: Vec<SkillText<'_>> = names.iter().map(|name| SkillText { name, ..SkillText::default() }).collect();
    let message = "never use a a a a a a, ".repeat(50);
    let mentions = Catalogue::build(&texts).find_mentions(&message);
    assert_eq!(mentions.len(), 32);
    assert!(mentions.iter().all(|mention| mention.stance == Stance::Forbidden), "{:?}", mentions.first());
}
