//! What the names of two skills say of how they belong together.

use crate::recall::fold;

/// How two names are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinship {
    /// One has all the words of the other.
    Namesakes,
    /// They begin alike, and each goes on in its own way.
    Series,
    None,
}

/// The words of a name, folded, in order.
pub(super) fn list_name_words(name: &str) -> Vec<String> {
    let folded = fold(name);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// How two names are alike, given by their words.
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
