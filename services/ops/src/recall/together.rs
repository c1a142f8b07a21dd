//! Recall: the best of all sources for a question, together.

use knowhow_domain::{Memory, MemoryKind, Result, Scope, SkillId};
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::SearchedSkill;
use super::hop::add_linked;
use super::memories::Memories;
use super::session_question::question_of;
use super::skills::Skills;
use super::source::{Asked, Found, Source};
use crate::Ctx;
use crate::page::best_limit;

/// What to recall.
#[derive(Debug, Clone, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Recall {
    /// The question; required without `session`.
    #[param(min_length = 1, max_length = 4096)]
    #[schema(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// A session, by id. `q` is read with what was said last in it. Without `q` the question is the user's last message, read with
    /// the reply before it.
    #[param(min_length = 1, max_length = 255)]
    #[schema(min_length = 1, max_length = 255)]
    pub session: Option<String>,
    /// Memories of this kind alone, and no skills.
    pub kind: Option<MemoryKind>,
    /// Largest number of items to return; by default 10.
    #[param(minimum = 1, maximum = 50)]
    #[schema(minimum = 1, maximum = 50, default = 10)]
    pub limit: Option<u32>,
}

/// What was recalled.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RecalledItems {
    /// Best first.
    pub items: Vec<RecalledItem>,
}

/// A memory or a skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RecalledItem {
    /// Which of them.
    pub kind: RecalledKind,
    /// Its id.
    pub id: Uuid,
    /// Of a skill: its name, to load it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The memory, or the skill's summary.
    pub content: String,
    /// How well it fits, 0 to 1: half for the words in common by their rarity, half for the meaning. Of skills: how
    /// likely the question asks for one, shared out by rank. Of what is linked with a better one: at most half of that one's.
    pub score: f32,
    /// Why, in words and numbers.
    pub reason: String,
    /// Whether it comes from a session that had read untrusted content; of a skill, and no person has approved it.
    pub tainted: bool,
}

/// What was recalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecalledKind {
    /// A fact.
    Semantic,
    /// An event.
    Episodic,
    /// A thought about what happened.
    Reflection,
    /// A procedure.
    Skill,
}

/// Recalls memories and skills, and what is one hop through the graph from the best of them: a memory and a skill that name the
/// same thing, skills that are related.
///
/// # Errors
/// `Malformed` for a question or limit that cannot be, and without `q` and `session`; `NotFound` for a session that is not the user's;
/// `Forbidden` for one without the scope `sessions`.
pub async fn recall(ctx: &Ctx, query: &Recall) -> Result<RecalledItems> {
    ctx.principal.require(Scope::Memories)?;
    let limit = best_limit(query.limit.unwrap_or(10))?;
    let Some(question) = question_of(ctx, query).await? else { return Ok(RecalledItems { items: Vec::new() }) };
    let asked = Asked::by_meaning(ctx, &question, limit).await?;
    let has_skills = query.kind.is_none() && ctx.principal.require(Scope::SkillsRead).is_ok();
    let memories = Memories { kind: query.kind };
    let found_skills = async { if has_skills { Skills.find(ctx, &asked).await } else { Ok(Vec::new()) } };
    let (found_memories, found_skills) = tokio::join!(memories.find(ctx, &asked), found_skills);
    let mut items: Vec<RecalledItem> = found_memories?.into_iter().map(RecalledItem::from).collect();
    items.extend(found_skills?.into_iter().map(RecalledItem::from));
    let best_first = |a: &RecalledItem, b: &RecalledItem| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id));
    items.sort_by(best_first);
    items.truncate(limit);
    if query.kind.is_none() {
        add_linked(ctx, &mut items, limit.div_ceil(2), has_skills).await?;
        items.sort_by(best_first);
        items.truncate(limit);
    }
    mark_skills(ctx, &mut items).await?;
    Ok(RecalledItems { items })
}

/// What recall knows of skills does not tell which are not to be trusted.
async fn mark_skills(ctx: &Ctx, items: &mut [RecalledItem]) -> Result<()> {
    let found = items.iter().filter(|item| item.kind == RecalledKind::Skill);
    let ids: Vec<SkillId> = found.map(|item| SkillId(item.id)).collect();
    if !ids.is_empty() {
        let tainted = skills::find_tainted(&ctx.app.db, &ctx.principal, &ids, ctx.now()).await?;
        items.iter_mut().for_each(|item| item.tainted |= tainted.contains(&SkillId(item.id)));
    }
    Ok(())
}

impl From<Found<Memory>> for RecalledItem {
    fn from(found: Found<Memory>) -> Self {
        Self::of_memory(found.item, found.score, found.reason)
    }
}

impl RecalledItem {
    pub(super) fn of_memory(memory: Memory, score: f32, reason: String) -> Self {
        let kind = match memory.kind {
            MemoryKind::Episodic => RecalledKind::Episodic,
            MemoryKind::Reflection => RecalledKind::Reflection,
            MemoryKind::Semantic => RecalledKind::Semantic,
        };
        Self { kind, id: memory.id.0, name: None, content: memory.content, score, reason, tainted: memory.tainted }
    }
}

impl From<Found<SearchedSkill>> for RecalledItem {
    fn from(found: Found<SearchedSkill>) -> Self {
        let Found { item: skill, score, reason } = found;
        let (kind, name) = (RecalledKind::Skill, Some(skill.name));
        Self { kind, id: skill.id.0, name, content: skill.summary, score, reason, tainted: false }
    }
}
