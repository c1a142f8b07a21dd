//! Sentences in fifteen languages, with the expected stance to the named skill.

use std::cell::Cell;

use super::*;
use crate::recall::{Catalogue, SkillText};

mod sentences;

/// The skills of these tests. The names of the first two are not ordinary words; the name of the third is.
const SKILLS: [&str; 3] = ["drop-tables", "mcp/send-invoice", "weather"];

/// Returns the stance of a message to each skill; `None` for a skill that the message does not name.
fn stances_to(message: &str) -> [Option<Stance>; 3] {
    let texts = SKILLS.map(|name| SkillText { name, ..SkillText::default() });
    let mentions = Catalogue::build(&texts).find_mentions(message);
    [0, 1, 2].map(|skill| mentions.iter().find(|mention| mention.skill == skill).map(|mention| mention.stance))
}

thread_local! {
    /// Number of tokens examined by this thread.
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Counts an examined token.
pub(super) fn count_look() {
    LOOKS.set(LOOKS.get() + 1);
}

#[test]
fn the_work_is_linear_in_the_length_of_the_message() {
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
        // The user's own text next to the pasted text is read.
        let [stance, ..] = stances_to(&format!("{pasted}\nplease use drop-tables"));
        assert_eq!(stance, Some(Stance::Called), "{pasted}");
    }
}

/// Asserts that each skill is found once, even if many skills have names with the same words.
#[test]
fn skills_with_names_of_the_same_words_are_found_once_each() {
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
