//! Recall: memories and skills for a question, together.

use std::collections::HashMap;
use std::sync::LazyLock;

use knowhow_domain::{Memory, MemoryKind, Result, Scope};
use knowhow_store::memories;
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::question::Question;
use super::searched::{FoundMemory, Search};
use crate::dear::Line;
use crate::page::best_limit;
use crate::recall::{Query, SearchedSkill, catalogue_now, embed_searched, list_found, rank};
use crate::{Ctx, compute};

/// Questions to many memories at once: each takes some milliseconds of a processor, and of the database.
const AT_ONCE: usize = 2;

static LINE: LazyLock<Line> = LazyLock::new(|| Line::new("questions to many memories of this tenant", AT_ONCE));

/// What to recall.
#[derive(Debug, Clone, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Recall {
    /// The question.
    #[param(min_length = 1, max_length = 4096, example = "how does Ann like to travel?")]
    #[schema(min_length = 1, max_length = 4096)]
    pub q: String,
    /// Memories of this kind alone, and no skills.
    pub kind: Option<MemoryKind>,
    /// Most items to answer with.
    #[param(minimum = 1, maximum = 50, default = 10)]
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
    /// likely the question asks for one, shared out by rank.
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

/// Recalls memories and skills.
///
/// # Errors
/// `Malformed` for a question or limit that cannot be.
pub async fn recall(ctx: &Ctx, query: &Recall) -> Result<RecalledItems> {
    ctx.principal.require(Scope::Memories)?;
    let question = Question::of(&query.q)?;
    let limit = best_limit(query.limit.unwrap_or(10))?;
    let embedding = embed_searched(ctx, &query.q).await?;
    let found_skills = async {
        if query.kind.is_some() || ctx.principal.require(Scope::SkillsRead).is_err() {
            return Ok(Vec::new());
        }
        let asked =
            Query { message: &query.q, embedding: embedding.clone(), searched: true, limit, ..Query::default() };
        let catalogue = catalogue_now(ctx).await?;
        let ranking = rank(ctx, &catalogue, asked).await?;
        Ok::<_, knowhow_domain::Error>(list_found(&catalogue, &ranking))
    };
    let wanted = Search { question, vector: embedding.clone(), kind: query.kind, limit };
    let found = search(ctx, wanted);
    let (found, found_skills) = tokio::join!(found, found_skills);
    let found_skills = found_skills?;
    let mut items: Vec<RecalledItem> = found?.into_iter().map(|(found, memory)| of_memory(found, memory)).collect();
    items.extend(found_skills.into_iter().map(of_skill));
    items.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    items.truncate(limit);
    mark_skills(ctx, &mut items).await?;
    Ok(RecalledItems { items })
}

/// The best memories for a question, best first, each with its text.
async fn search(ctx: &Ctx, wanted: Search) -> Result<Vec<(FoundMemory, Memory)>> {
    let kept = &ctx.app.catalogues.memories;
    let are_many = kept.are_many(&ctx.principal).await?;
    let _turn = if are_many { Some(LINE.turn(ctx.principal.tenant()).await?) } else { None };
    let searched = kept.get(ctx).await?;
    let search = move || searched.search(&wanted);
    // Some milliseconds for thousands of memories: not on a thread that answers requests.
    let found = if are_many { compute(move || Ok(search())).await? } else { search() };
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = found.iter().map(|found| found.id).collect();
    let read = memories::find_all(&ctx.app.db, &ctx.principal, &ids).await?;
    let mut read: HashMap<Uuid, Memory> = read.into_iter().map(|memory| (memory.id, memory)).collect();
    Ok(found.into_iter().filter_map(|found| Some((found, read.remove(&found.id)?))).collect())
}

/// What recall knows of skills does not tell which are not to be trusted.
async fn mark_skills(ctx: &Ctx, items: &mut [RecalledItem]) -> Result<()> {
    let ids: Vec<Uuid> = items.iter().filter(|item| item.kind == RecalledKind::Skill).map(|item| item.id).collect();
    if !ids.is_empty() {
        let tainted = skills::find_tainted(&ctx.app.db, &ctx.principal, &ids, ctx.now()).await?;
        items.iter_mut().for_each(|item| item.tainted |= tainted.contains(&item.id));
    }
    Ok(())
}

fn of_memory(found: FoundMemory, memory: Memory) -> RecalledItem {
    let meaning = found.cosine.map(|cosine| cosine.clamp(0.0, 1.0));
    let meant = meaning.map_or_else(String::new, |meaning| format!(", meaning ({meaning:.2})"));
    RecalledItem {
        kind: match memory.kind {
            MemoryKind::Episodic => RecalledKind::Episodic,
            MemoryKind::Reflection => RecalledKind::Reflection,
            MemoryKind::Semantic => RecalledKind::Semantic,
        },
        id: memory.id,
        name: None,
        content: memory.content,
        score: found.score(),
        reason: format!("words ({:.2}){meant}", found.words),
        tainted: memory.tainted,
    }
}

fn of_skill(skill: SearchedSkill) -> RecalledItem {
    RecalledItem {
        kind: RecalledKind::Skill,
        id: skill.id,
        name: Some(skill.name),
        content: skill.summary,
        score: skill.fit * skill.closeness,
        reason: skill.reason,
        tainted: false,
    }
}
