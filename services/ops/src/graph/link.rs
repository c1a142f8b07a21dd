//! What a memory names: the things that its writer lists, and the skills that occur in its text.

use std::collections::BTreeSet;

use knowhow_domain::graph::{ENTITIES_PER_MEMORY, EntityKind, EntityName, canonical};
use knowhow_domain::{Error, Memory, Result, SkillId};
use knowhow_store::WriteTx;
use knowhow_store::graph::{self, Link};
use tokio::time::{Instant, timeout_at};

use crate::Ctx;
use crate::recall::catalogue_at_hand;

/// Most skills that are looked for in the text of one memory.
const MOST_NAMED: usize = 16;

/// The things that a memory is said to name, each with its name on one line.
///
/// # Errors
/// `Invalid` for too many, or for a name that cannot be.
pub(crate) fn check_entities(entities: &[EntityName]) -> Result<Vec<(EntityKind, String)>> {
    if entities.len() > ENTITIES_PER_MEMORY {
        let detail = format!("a memory names at most {ENTITIES_PER_MEMORY} entities, not {}", entities.len());
        return Err(Error::invalid("/entities", detail));
    }
    let checked = entities.iter().enumerate().map(|(at, entity)| {
        let (kind, name) = entity.checked(&format!("/entities/{at}/name"))?;
        // As skills are looked up, however a name is spelled.
        let name = if kind == EntityKind::Skill { canonical(&name).replace(' ', "-") } else { name };
        Ok((kind, name))
    });
    checked.collect()
}

/// What a memory has to do with the user's skills.
#[derive(Debug, Default)]
pub(crate) struct NamedSkills {
    /// Skills whose names occur in its text.
    pub(crate) names: Vec<String>,
    /// Skills that hold all words of a thing which the memory names, so that their texts may name it too.
    pub(crate) may_name: Vec<SkillId>,
}

/// The skills whose names occur in a text, and those that may name the same things, as far as the user's catalogue is there
/// by the deadline; the one that this process has may be a moment old. An ordinary word counts only in a form that nothing else has, such as `` `weather` ``.
pub(crate) async fn named_skills(
    ctx: &Ctx,
    text: &str,
    entities: &[(EntityKind, String)],
    deadline: Instant,
) -> Result<NamedSkills> {
    let Ok(catalogue) = timeout_at(deadline, catalogue_at_hand(ctx)).await else { return Ok(NamedSkills::default()) };
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

/// Notes what a memory names, in the transaction that keeps it.
pub(crate) fn link_memory(ctx: &Ctx, tx: &mut WriteTx, memory: &Memory, named: &Named<'_>) {
    let Named { entities, may_name } = *named;
    if !entities.is_empty() {
        graph::link(tx, &Link { memory: memory.id, entities, may_name, now: ctx.now() });
    }
}

/// What a memory names, and which skills may name the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) entities: &'a [(EntityKind, String)],
    pub(crate) may_name: &'a [SkillId],
}
