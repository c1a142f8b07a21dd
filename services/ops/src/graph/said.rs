//! The relations of a skill that somebody declared or a text says, in words for who reads the skill.

use knowhow_domain::graph::RelationType;
use knowhow_domain::{Result, name};
use knowhow_store::graph::{self, Neighbour, Seen};

use crate::Ctx;

/// Most relations that are told, in each direction.
const MOST: i64 = 8;

/// What a skill has to do with others as somebody has said it: "requires mcp/email", "plan-meeting requires it". What its own
/// `see_also` lists is left out. Nothing for a name that is not exactly a skill's.
///
/// # Errors
/// `Unavailable`.
pub async fn list_said_relations(ctx: &Ctx, skill: &str) -> Result<Vec<String>> {
    let Some(name) = name::lookup_key(skill) else { return Ok(Vec::new()) };
    let seen = Seen { most: MOST, now: ctx.now() };
    let found = graph::list_named_relations(&ctx.app.db, &ctx.principal, &name, seen).await?;
    let mut told: Vec<String> = found.iter().filter_map(tell).collect();
    told.dedup();
    Ok(told)
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
