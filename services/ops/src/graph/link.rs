//! Finds the entities that a memory names: entities that the writer listed, and skills named in the memory's text.

use std::collections::BTreeSet;

use knowhow_domain::graph::{ENTITIES_PER_MEMORY, EntityKind, EntityName, canonical};
use knowhow_domain::{Error, Memory, Result, SkillId};
use knowhow_store::WriteTx;
use knowhow_store::graph::{self, Link};
use tokio::time::{Instant, timeout_at};

use crate::Ctx;
use crate::recall::cached_catalogue;

/// Maximum number of skills found in the text of one memory.
const MOST_NAMED: usize = 16;

/// Validates the entities listed for a memory. Returns each with its name as a single line.
///
/// # Errors
/// `Invalid` for too many entities or an invalid name.
pub(crate) fn check_entities(entities: &[EntityName]) -> Result<Vec<(EntityKind, String)>> {
    if entities.len() > ENTITIES_PER_MEMORY {
        let detail = format!("a memory names at most {ENTITIES_PER_MEMORY} entities, not {}", entities.len());
        return Err(Error::invalid("/entities", detail));
    }
    let checked = entities.iter().enumerate().map(|(at, entity)| {
        let (kind, name) = entity.checked(&format!("/entities/{at}/name"))?;
        // Skill names are normalised as in a lookup.
        let name = if kind == EntityKind::Skill { canonical(&name).replace(' ', "-") } else { name };
        Ok((kind, name))
    });
    checked.collect()
}

/// Skills related to a memory.
#[derive(Debug, Default)]
pub(crate) struct NamedSkills {
    /// Names of skills that occur in the memory's text.
    pub(crate) names: Vec<String>,
    /// Skills with all words of an entity that the memory names, so that the skill's text may name the entity too.
    pub(crate) may_name: Vec<SkillId>,
}

/// Finds the skills named in a text, and the skills that may name the same entities. Returns empty lists if the
/// catalogue is not loaded by the deadline; a cached catalogue may be slightly outdated. A name that is an ordinary
/// word counts only in an unambiguous form, such as `` `weather` ``.
pub(crate) async fn named_skills(
    ctx: &Ctx,
    text: &str,
    entities: &[(EntityKind, String)],
    deadline: Instant,
) -> Result<NamedSkills> {
    let Ok(catalogue) = timeout_at(deadline, cached_catalogue(ctx)).await else { return Ok(NamedSkills::default()) };
    let catalogue = catalogue?;
    let named = catalogue.index.find_surely_named(text).into_iter();
    let skills = named.filter_map(|mention| catalogue.skills.get(mention.skill));
    let names = skills.take(MOST_NAMED).map(|skill| skill.name.to_string()).collect();
    let things = entities.iter().filter(|(kind, _)| *kind != EntityKind::Skill);
    let holders = things.flat_map(|(_, name)| catalogue.index.find_with_all(name).into_iter().take(MOST_NAMED));
    let may_name: BTreeSet<SkillId> =
        holders.filter_map(|place| catalogue.skills.get(place)).map(|skill| skill.id).collect();
    Ok(NamedSkills { names, may_name: may_name.into_iter().collect() })
}

/// Stores the entities of a memory, in the transaction that writes the memory.
pub(crate) fn link_memory(ctx: &Ctx, tx: &mut WriteTx, memory: &Memory, named: &MemoryEntities<'_>) {
    let MemoryEntities { entities, may_name } = *named;
    if !entities.is_empty() {
        graph::link(tx, &Link { memory: memory.id, entities, may_name, now: ctx.now() });
    }
}

/// The entities of a memory, and the skills that may name them too.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryEntities<'a> {
    pub(crate) entities: &'a [(EntityKind, String)],
    pub(crate) may_name: &'a [SkillId],
}
