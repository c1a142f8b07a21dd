//! Renders the declared and extracted relations of a skill as sentences, for readers of the skill.

use knowhow_domain::graph::RelationType;
use knowhow_store::graph::Neighbour;

/// Maximum number of a skill's relations rendered per direction.
pub(crate) const MOST_SAID: i64 = 8;

/// Returns the relations of a skill as sentences, e.g. "requires mcp/email" or "plan-meeting requires it". The
/// skill's own `see_also` is omitted, as its text lists it.
pub(crate) fn describe_relations(found: &[Neighbour]) -> Vec<String> {
    let mut sentences: Vec<String> = found.iter().filter_map(tell).collect();
    sentences.dedup();
    sentences
}

fn tell(relation: &Neighbour) -> Option<String> {
    let (other, kind) = (&relation.other, in_words(relation.kind));
    match (relation.is_from, relation.kind) {
        (true, RelationType::SeeAlso) => None,
        (false, RelationType::SeeAlso) => Some(format!("{other} points at it")),
        (true, _) => Some(format!("{kind} {other}")),
        (false, symmetric) if symmetric.is_symmetric() => Some(format!("{kind} {other}")),
        (false, _) => Some(format!("{other} {kind} it")),
    }
}

/// Returns a relation type as a verb.
pub(crate) fn in_words(kind: RelationType) -> &'static str {
    match kind {
        RelationType::OftenUsedWith => "is often used with",
        RelationType::SeeAlso => "points at",
        other => other.as_str(),
    }
}
