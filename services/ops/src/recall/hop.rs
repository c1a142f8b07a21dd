//! One hop through the graph: what is linked with what was found comes along, behind it.

use std::collections::HashMap;

use knowhow_domain::graph::{faded, idle_days};
use knowhow_domain::{Memory, MemoryId, Result, SkillId};
use knowhow_store::graph::{self, Hop, Start, Via};
use knowhow_store::memories;
use uuid::Uuid;

use super::catalogue_at_hand;
use super::together::{RecalledItem, RecalledKind};
use crate::Ctx;
use crate::graph::in_words;

/// Most of what was found, from the best on, that is asked for links.
const STARTS: usize = 5;
/// What is reached scores at most so much of what it was reached from.
const DAMPED: f32 = 0.5;
/// A memory that matters little scores so much less than one that matters most.
const LEAST_BY_IMPORTANCE: f32 = 0.5;

/// What a hop has reached.
struct Reached {
    score: f32,
    reason: String,
    is_memory: bool,
}

/// Adds to what was found what is one hop from the best of it, at most `most`. What was found itself stays as it is.
pub(super) async fn add_linked(ctx: &Ctx, items: &mut Vec<RecalledItem>, most: usize, with_skills: bool) -> Result<()> {
    let reached = reach(ctx, items).await?;
    let mut best: Vec<(Uuid, Reached)> =
        reached.into_iter().filter(|(_, reached)| reached.is_memory || with_skills).collect();
    best.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.0.cmp(&b.0)));
    best.truncate(most);
    if best.is_empty() {
        return Ok(());
    }
    let ids: Vec<MemoryId> = best.iter().filter(|(_, to)| to.is_memory).map(|(id, _)| MemoryId(*id)).collect();
    let memories =
        if ids.is_empty() { Vec::new() } else { memories::find_all(&ctx.app.db, &ctx.principal, &ids).await? };
    let mut memories: HashMap<Uuid, Memory> = memories.into_iter().map(|memory| (memory.id.0, memory)).collect();
    let catalogue = catalogue_at_hand(ctx).await?;
    for (id, to) in best {
        let item = if to.is_memory {
            memories.remove(&id).map(|memory| memory_item(ctx, memory, to))
        } else {
            let skill = catalogue.skills.iter().find(|skill| skill.id == SkillId(id) && !skill.reserved);
            skill.map(|skill| RecalledItem {
                kind: RecalledKind::Skill,
                id,
                name: Some(skill.name.to_string()),
                content: skill.summary.to_string(),
                score: to.score,
                reason: to.reason,
                tainted: false,
            })
        };
        items.extend(item);
    }
    Ok(())
}

/// What is one hop from the best that was found, each by its strongest link.
async fn reach(ctx: &Ctx, items: &[RecalledItem]) -> Result<HashMap<Uuid, Reached>> {
    let found: HashMap<Uuid, f32> = items.iter().take(STARTS).map(|item| (item.id, item.score)).collect();
    let of_kind =
        |is_skill: bool| items.iter().take(STARTS).filter(move |i| (i.kind == RecalledKind::Skill) == is_skill);
    let memories: Vec<MemoryId> = of_kind(false).map(|item| MemoryId(item.id)).collect();
    let skills: Vec<SkillId> = of_kind(true).map(|item| SkillId(item.id)).collect();
    let mut reached: HashMap<Uuid, Reached> = HashMap::new();
    if found.is_empty() {
        return Ok(reached);
    }
    let start = Start { memories: &memories, skills: &skills };
    for hop in graph::list_hops(&ctx.app.db, &ctx.principal, start, ctx.now()).await? {
        let Some(score) = found.get(&hop.from).map(|score| score * DAMPED * hop.strength) else { continue };
        let is_known = items.iter().any(|item| item.id == hop.to);
        if !is_known && reached.get(&hop.to).is_none_or(|known| known.score < score) {
            let from = items.iter().find(|item| item.id == hop.from);
            let reason = tell(&hop, from.and_then(|item| item.name.as_deref()));
            reached.insert(hop.to, Reached { score, reason, is_memory: hop.is_memory });
        }
    }
    Ok(reached)
}

/// By what it was reached, and from what.
fn tell(hop: &Hop, skill: Option<&str>) -> String {
    let from = skill.unwrap_or("a memory that was found");
    match &hop.via {
        Via::Related(kind) => format!("linked with {from}: {}", in_words(*kind)),
        Via::Named(name) if Some(name.as_str()) == skill => format!("linked: names {name}"),
        Via::Named(name) => format!("linked with {from} by {name}"),
    }
}

/// A memory that matters less scores less, however well it is linked.
fn memory_item(ctx: &Ctx, memory: Memory, to: Reached) -> RecalledItem {
    let importance = memory_importance(ctx, &memory);
    let weight = LEAST_BY_IMPORTANCE + (1.0 - LEAST_BY_IMPORTANCE) * importance;
    RecalledItem::of_memory(memory, to.score * weight, to.reason)
}

/// How much a memory matters now.
pub(crate) fn memory_importance(ctx: &Ctx, memory: &Memory) -> f32 {
    let daily = ctx.principal.settings().memory_decay;
    faded(memory.importance, daily, idle_days(memory.created_at, ctx.now()), 0.0)
}
