//! Compares the names of two skills.

use crate::recall::fold;

/// Similarity of two names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinship {
    /// All words of one name occur in the other.
    Namesakes,
    /// The names begin with the same word, but each has a word that the other lacks.
    Series,
    None,
}

/// Returns the words in a name in order, folded.
pub(super) fn list_name_words(name: &str) -> Vec<String> {
    let folded = fold(name);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Compares two names by their words.
pub(super) fn find_kinship(a: &[String], b: &[String]) -> Kinship {
    let holds = |all: &[String], some: &[String]| some.iter().all(|word| all.contains(word));
    match (a.first(), b.first()) {
        (Some(_), Some(_)) if holds(a, b) || holds(b, a) => Kinship::Namesakes,
        (Some(first), Some(other)) if first == other => Kinship::Series,
        _ => Kinship::None,
    }
}

#[cfg(test)]
mod tests;
