//! Recalls the best memories and skills for a question from all sources, in one list.

use std::collections::HashSet;

use knowhow_domain::{MemoryKind, Result, Scope, SkillId};
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::memories::Memories;
use super::recalled_item::{RecalledItem, RecalledKind};
use super::session_question::question_of;
use super::skills::SkillSource;
use super::source::{RecallSource, SourceQuery};
use crate::Ctx;
use crate::context::page::best_limit;
use crate::recall::graph_hop::add_linked;

/// A request to recall memories and skills.
#[derive(Debug, Clone, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Recall {
    /// The question; required without `session`.
    #[param(min_length = 1, max_length = 4096)]
    #[schema(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// A session, by id. With `q`, the last messages of the session give context to `q`. Without `q`, the question is
    /// the user's last message, in the context of the reply before it.
    #[param(min_length = 1, max_length = 255)]
    #[schema(min_length = 1, max_length = 255)]
    pub session: Option<String>,
    /// Kind of memories to recall. If it is absent, all kinds and skills are recalled.
    pub kind: Option<MemoryKind>,
    /// Largest number of items to return; by default 10.
    #[param(minimum = 1, maximum = 50)]
    #[schema(minimum = 1, maximum = 50, default = 10)]
    pub limit: Option<u32>,
}

/// Recalled memories and skills.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RecalledItems {
    /// The items, best first.
    pub items: Vec<RecalledItem>,
}

/// Recalls memories and skills, and items that are one hop through the graph from the best of them. A hop leads
/// between a memory and a skill that name the same entity, or between related skills.
///
/// # Errors
/// - `Malformed` if the question or limit is invalid, or if both `q` and `session` are missing
/// - `NotFound` if the user has no such session
/// - `Forbidden` if a session is given and the caller lacks the scope `sessions`
pub async fn recall(ctx: &Ctx, query: &Recall) -> Result<RecalledItems> {
    ctx.principal.require(Scope::Memories)?;
    let limit = best_limit(query.limit.unwrap_or(10))?;
    let Some(question) = question_of(ctx, query).await? else { return Ok(RecalledItems { items: Vec::new() }) };
    let asked = SourceQuery::by_meaning(ctx, &question, limit).await?;
    let has_skills = query.kind.is_none() && ctx.principal.require(Scope::SkillsRead).is_ok();
    let memories = Memories { kind: query.kind };
    let found_skills = async { if has_skills { SkillSource.find(ctx, &asked).await } else { Ok(Vec::new()) } };
    let (found_memories, found_skills) = tokio::join!(memories.find(ctx, &asked), found_skills);
    let mut items: Vec<RecalledItem> = found_memories?.into_iter().map(RecalledItem::from).collect();
    items.extend(found_skills?.into_iter().map(RecalledItem::from));
    let best_first = |a: &RecalledItem, b: &RecalledItem| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id));
    items.sort_by(best_first);
    drop_repeated(&mut items);
    items.truncate(limit);
    if query.kind.is_none() {
        add_linked(ctx, &mut items, limit.div_ceil(2), has_skills).await?;
        items.sort_by(best_first);
        drop_repeated(&mut items);
        items.truncate(limit);
    }
    mark_skills(ctx, &mut items).await?;
    Ok(RecalledItems { items })
}

/// Drops memories that have the same text as a better one.
fn drop_repeated(items: &mut Vec<RecalledItem>) {
    let mut known = HashSet::new();
    items.retain(|item| item.kind == RecalledKind::Skill || known.insert(item.content.clone()));
}

/// Marks tainted skills. The marks are read from the database, because the catalogue does not contain them.
async fn mark_skills(ctx: &Ctx, items: &mut [RecalledItem]) -> Result<()> {
    let found = items.iter().filter(|item| item.kind == RecalledKind::Skill);
    let ids: Vec<SkillId> = found.map(|item| SkillId(item.id)).collect();
    if !ids.is_empty() {
        let tainted = skills::find_tainted(&ctx.app.db, &ctx.principal, &ids, ctx.now()).await?;
        items.iter_mut().for_each(|item| item.tainted |= tainted.contains(&SkillId(item.id)));
    }
    Ok(())
}
