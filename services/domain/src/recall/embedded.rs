//! What is embedded, and the text of a skill that is.

use strum::IntoStaticStr;

use super::claims::claims_of;

/// What has vectors of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum EmbeddedKind {
    /// A skill of a user. All users share the vectors of unchanged starters, which are not among them.
    Skill,
    /// A memory.
    Memory,
    /// A message after which a skill was used.
    Example,
}

impl EmbeddedKind {
    /// Its name in statements.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Characters of the description; the model reads about four to a token, and what a skill is for stands first.
const DESCRIPTION_CHARS: usize = 300;
/// Characters of all triggers together.
const TRIGGERS_CHARS: usize = 300;

/// What to embed of a skill: its name in words, what the description claims, the triggers; never the body.
///
/// Texts that give the same string need no second embedding.
pub fn embedded_text(name: &str, description: &str, triggers: &[String]) -> String {
    let name = name.replace(['/', '-'], " ");
    let claims = cut(&claims_of(description), DESCRIPTION_CHARS);
    let triggers = cut(&triggers.join(", "), TRIGGERS_CHARS);
    if triggers.is_empty() { format!("{name}: {claims}") } else { format!("{name}: {claims} {triggers}") }
}

/// The beginning of a text, blanks and line breaks as one blank.
fn cut(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(chars).collect()
}

#[cfg(test)]
mod tests;
