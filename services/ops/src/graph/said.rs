//! The relations of a skill that somebody declared or a text says, in words for who reads the skill.

use knowhow_domain::graph::RelationType;
use knowhow_store::graph::Neighbour;

/// Most relations that are told, in each direction.
pub(crate) const MOST_SAID: i64 = 8;

/// What a skill has to do with others as somebody has said it: "requires mcp/email", "plan-meeting requires it". What its own
/// `see_also` lists is left out.
pub(crate) fn said_relations(found: &[Neighbour]) -> Vec<String> {
    let mut told: Vec<String> = found.iter().filter_map(tell).collect();
    told.dedup();
    told
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

/// A relation as a verb.
pub(crate) fn in_words(kind: RelationType) -> &'static str {
    match kind {
        RelationType::OftenUsedWith => "is often used with",
        RelationType::SeeAlso => "points at",
        other => other.as_str(),
    }
}
