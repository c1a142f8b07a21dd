//! The kinds of texts that have embeddings, and the text to embed for a skill.

use strum::IntoStaticStr;

use super::claims::claims_of;

/// Kind of a text that has its own embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum EmbeddedKind {
    /// A user's skill. Unchanged starters are not included, because all users share their vectors.
    Skill,
    Memory,
    /// A message after which a skill was used.
    Example,
}

impl EmbeddedKind {
    /// Returns the name of the kind in SQL.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Maximum number of characters of the description that are embedded. The model reads about four per token, and
/// descriptions begin with the purpose.
const DESCRIPTION_CHARS: usize = 300;
/// Maximum number of characters that are embedded of all triggers together.
const TRIGGERS_CHARS: usize = 300;

/// Returns the text to embed for a skill: name, description without disclaimers, triggers; never the body.
///
/// Skills with the same text can share an embedding.
pub fn embedded_text(name: &str, description: &str, triggers: &[String]) -> String {
    let name = name.replace(['/', '-'], " ");
    let claims = cut(&claims_of(description), DESCRIPTION_CHARS);
    let triggers = cut(&triggers.join(", "), TRIGGERS_CHARS);
    if triggers.is_empty() { format!("{name}: {claims}") } else { format!("{name}: {claims} {triggers}") }
}

/// Returns the first `chars` characters of a text, with each run of whitespace as one space.
fn cut(text: &str, chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(chars).collect()
}

#[cfg(test)]
mod tests;
