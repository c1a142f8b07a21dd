//! Adds items that are linked in the graph with the best results.

use std::collections::HashMap;

use knowhow_domain::graph::{faded, idle_days};
use knowhow_domain::{Memory, MemoryId, Result, SkillId};
use knowhow_store::graph::{self, Hop, HopConnection, Start};
use knowhow_store::sessions::memories;
use uuid::Uuid;

use super::cached_catalogue;
use crate::Ctx;
use crate::graph::in_words;
use crate::recall::recalled_item::{RecalledItem, RecalledKind};

/// Maximum number of results, best first, that links are followed from.
const STARTS: usize = 5;
/// Maximum score of a linked item, as a share of the score of the result that it is linked with.
const DAMPED: f32 = 0.5;
/// Factor of a linked memory's score if its importance is 0. The factor is 1 if the importance is 1.
const LEAST_BY_IMPORTANCE: f32 = 0.5;

/// A skill or memory that is linked with a result.
struct HopResult {
    score: f32,
    reason: String,
    is_memory: bool,
}

/// Adds at most `most` items that are linked with the best results. The results themselves stay unchanged.
pub(super) async fn add_linked(ctx: &Ctx, items: &mut Vec<RecalledItem>, most: usize, with_skills: bool) -> Result<()> {
    let hops = find_hops(ctx, items).await?;
    let mut best: Vec<(Uuid, HopResult)> = hops.into_iter().filter(|(_, hop)| hop.is_memory || with_skills).collect();
    best.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.0.cmp(&b.0)));
    best.truncate(most);
    if best.is_empty() {
        return Ok(());
    }
    let ids: Vec<MemoryId> = best.iter().filter(|(_, to)| to.is_memory).map(|(id, _)| MemoryId(*id)).collect();
    let memories =
        if ids.is_empty() { Vec::new() } else { memories::find_all(&ctx.app.db, &ctx.principal, &ids).await? };
    let mut memories: HashMap<Uuid, Memory> = memories.into_iter().map(|memory| (memory.id.0, memory)).collect();
    let catalogue = cached_catalogue(ctx).await?;
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
                created_at: None,
                score: to.score,
                reason: to.reason,
                excluded: false,
                tainted: false,
            })
        };
        items.extend(item);
    }
    Ok(())
}

/// Returns the items that are linked with the best results, each with its strongest link.
async fn find_hops(ctx: &Ctx, items: &[RecalledItem]) -> Result<HashMap<Uuid, HopResult>> {
    let found: HashMap<Uuid, f32> = items.iter().take(STARTS).map(|item| (item.id, item.score)).collect();
    let of_kind =
        |is_skill: bool| items.iter().take(STARTS).filter(move |i| (i.kind == RecalledKind::Skill) == is_skill);
    let memories: Vec<MemoryId> = of_kind(false).map(|item| MemoryId(item.id)).collect();
    let skills: Vec<SkillId> = of_kind(true).map(|item| SkillId(item.id)).collect();
    let mut hops: HashMap<Uuid, HopResult> = HashMap::new();
    if found.is_empty() {
        return Ok(hops);
    }
    let start = Start { memories: &memories, skills: &skills };
    for hop in graph::list_hops(&ctx.app.db, &ctx.principal, start, ctx.now()).await? {
        let Some(score) = found.get(&hop.from).map(|score| score * DAMPED * hop.strength) else { continue };
        let is_known = items.iter().any(|item| item.id == hop.to);
        if !is_known && hops.get(&hop.to).is_none_or(|known| known.score < score) {
            let from = items.iter().find(|item| item.id == hop.from);
            let reason = tell(&hop, from.and_then(|item| item.name.as_deref()));
            hops.insert(hop.to, HopResult { score, reason, is_memory: hop.is_memory });
        }
    }
    Ok(hops)
}

/// Describes the link, and the result at its other end.
fn tell(hop: &Hop, skill: Option<&str>) -> String {
    let from = skill.unwrap_or("a memory that was found");
    match &hop.via {
        HopConnection::Related(kind) => format!("linked with {from}: {}", in_words(*kind)),
        HopConnection::Named(name) if Some(name.as_str()) == skill => format!("linked: names {name}"),
        HopConnection::Named(name) => format!("linked with {from} by {name}"),
    }
}

/// Returns a linked memory as an item. The score decreases with the memory's importance, however strong the link is.
fn memory_item(ctx: &Ctx, memory: Memory, to: HopResult) -> RecalledItem {
    let importance = memory_importance(ctx, &memory);
    let weight = LEAST_BY_IMPORTANCE + (1.0 - LEAST_BY_IMPORTANCE) * importance;
    RecalledItem::of_memory(memory, to.score * weight, to.reason)
}

/// Returns the current importance of a memory, 0 to 1. It decreases with each idle day.
pub(crate) fn memory_importance(ctx: &Ctx, memory: &Memory) -> f32 {
    let daily = ctx.principal.settings().memory_decay;
    faded(memory.importance, daily, idle_days(memory.created_at, ctx.now()), 0.0)
}
