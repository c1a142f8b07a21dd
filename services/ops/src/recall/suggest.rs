//! Suggest: skills that may help in a context, by similarity, importance and recency.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use knowhow_domain::recall::Hit;
use knowhow_domain::{Channel, Result, Scope, SkillId};
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use super::explain::{Asked, Explanation};
use super::search::PATIENCE;
use super::source::Found;
use super::{Query, SearchedSkill, catalogue_now, embed, list_found, rank};
use crate::Ctx;
use crate::page::{best_limit, check_question};

/// Asks for skills that fit a situation.
#[derive(Debug, Clone, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SuggestSkills {
    /// What is going on: a message, a task, a summary.
    #[param(min_length = 1, max_length = 4096, example = "send the report by mail")]
    #[schema(min_length = 1, max_length = 4096)]
    pub context: String,
    /// Most items to answer with.
    #[param(minimum = 1, maximum = 50, default = 5)]
    #[schema(minimum = 1, maximum = 50, default = 5)]
    pub limit: Option<u32>,
    /// Whether to say of each candidate what its score is made of.
    pub explain: Option<bool>,
}

/// A suggested skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Suggested {
    /// The skill's full name, with its namespaces.
    #[schema(example = "mcp/email")]
    pub name: String,
    /// The line of the index.
    pub summary: String,
    /// `similarity` x `importance` x `recency`.
    pub score: f32,
    /// How near it stands to the best one, 0 to 1: the fifth root of how likely it is beside that.
    pub similarity: f32,
    /// 0 to 1.
    pub importance: f32,
    /// 1, and up to 1.5 for what was used lately: 1 + 0.5 x 0.5^(days since / 7).
    pub recency: f32,
    /// Why, in words and numbers.
    pub reason: String,
    /// Whether a turn would bring it: `min_score` is passed, and it stands near the best. Faces that speak to models say so.
    #[serde(skip)]
    pub fits: bool,
    /// Whether text of it came from a tainted session, and no person has approved it: information, no instructions.
    pub tainted: bool,
}

/// Suggested skills.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Suggestions {
    /// Best first.
    pub items: Vec<Suggested>,
    /// Why, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// Skills of similar fit change places by importance and recency, so more are looked at than asked for.
const LOOKED_AT: usize = 50;
/// A use counts half as much a week later.
const HALF_LIFE_DAYS: f32 = 7.0;
const MOST_BOOST: f32 = 0.5;
/// Likelihoods differ by orders of magnitude, importance and recency by halves: what a turn would bring as well has a third
/// of the best one's similarity at least.
const SOFTENED: f32 = 0.2;

/// Suggests skills.
///
/// # Errors
/// `Malformed` for a context or limit that cannot be.
pub async fn suggest_skills(ctx: &Ctx, query: &SuggestSkills) -> Result<Suggestions> {
    ctx.principal.require(Scope::SkillsRead)?;
    check_question("context", &query.context)?;
    let limit = best_limit(query.limit.unwrap_or(5))?;
    let embedding = embed(ctx, &query.context, Some(Instant::now() + PATIENCE));
    let (catalogue, embedding) = tokio::join!(catalogue_now(ctx), embedding);
    let (catalogue, (embedding, is_late)) = (catalogue?, embedding?);
    let asked = Query { message: &query.context, embedding, searched: true, limit: LOOKED_AT, ..Query::default() };
    let ranking = rank(ctx, &catalogue, asked).await?;
    let found = list_found(&catalogue, &ranking);
    let min_score = ctx.principal.settings().min_score(Channel::default());
    let known = |hit: &Hit| catalogue.skills.get(hit.skill).map(|skill| skill.id);
    let fitting: HashSet<SkillId> = ranking.relevant(min_score).iter().filter_map(known).collect();
    let ids: Vec<SkillId> = found.iter().map(|found| found.item.id).collect();
    let known_ids: HashMap<String, SkillId> =
        found.iter().map(|found| (found.item.name.clone(), found.item.id)).collect();
    let used: HashMap<SkillId, DateTime<Utc>> = if ids.is_empty() {
        HashMap::new()
    } else {
        skills::list_last_uses(&ctx.app.db, &ctx.principal, &ids).await?.into_iter().collect()
    };
    let suggest = |found: Found<SearchedSkill>| Suggested {
        fits: fitting.contains(&found.item.id),
        ..suggested(&found, used.get(&found.item.id), ctx.now())
    };
    let mut items: Vec<Suggested> = found.into_iter().map(suggest).collect();
    items.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
    items.truncate(limit);
    let shown: Vec<SkillId> = items.iter().filter_map(|item| known_ids.get(&item.name).copied()).collect();
    if !shown.is_empty() {
        let tainted = skills::find_tainted(&ctx.app.db, &ctx.principal, &shown, ctx.now()).await?;
        items
            .iter_mut()
            .for_each(|item| item.tainted = known_ids.get(&item.name).is_some_and(|id| tainted.contains(id)));
    }
    let explain = || Explanation::of(&catalogue, &ranking, &Asked { searched: true, is_late, min_score });
    Ok(Suggestions { items, explanation: query.explain.unwrap_or_default().then(explain) })
}

fn suggested(found: &Found<SearchedSkill>, last_use: Option<&DateTime<Utc>>, now: DateTime<Utc>) -> Suggested {
    let skill = &found.item;
    let similarity = skill.closeness.powf(SOFTENED);
    let days = last_use.map(|used| ((now - *used).num_seconds().max(0) as f32) / 86_400.0);
    let recency = 1.0 + days.map_or(0.0, |days| MOST_BOOST * 0.5_f32.powf(days / HALF_LIFE_DAYS));
    let used = days.map_or_else(|| "never used".to_owned(), |days| format!("used {days:.0} days ago"));
    Suggested {
        name: skill.name.clone(),
        summary: skill.summary.clone(),
        score: similarity * skill.importance * recency,
        similarity,
        importance: skill.importance,
        recency,
        reason: format!(
            "fits by {}; similarity {similarity:.2} x importance {:.2} x recency {recency:.2} ({used})",
            found.reason, skill.importance
        ),
        fits: false,
        tainted: false,
    }
}
