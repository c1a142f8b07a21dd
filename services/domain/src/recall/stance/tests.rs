//! Sentences in fifteen languages: what each means by the skill that it names.

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
