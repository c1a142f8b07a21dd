//! Suggests skills that may help in a situation, by similarity, importance and recency.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{Fading, Outcomes, idle_days};
use knowhow_domain::recall::Hit;
use knowhow_domain::{Channel, Result, Scope, SkillId};
use knowhow_store::graph::{self, Neighbour, RelationLimits, SkillRank};
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use super::explain::{Explanation, RankingContext};
use super::meaning::PATIENCE;
use super::source::SourceHit;
use super::{Query, SearchedSkill, catalogue_now, embed, list_found, rank};
use crate::Ctx;
use crate::context::page::{best_limit, check_question};
use crate::graph::{fading_of, in_words};

/// A request for skills that fit a situation.
#[derive(Debug, Clone, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SuggestSkills {
    /// Text that describes the situation: a message, a task, a summary.
    #[param(min_length = 1, max_length = 4096, example = "send the report by mail")]
    #[schema(min_length = 1, max_length = 4096)]
    pub context: String,
    /// Largest number of items to return; by default 5.
    #[param(minimum = 1, maximum = 50)]
    #[schema(minimum = 1, maximum = 50, default = 5)]
    pub limit: Option<u32>,
    /// Whether to include the parts of each candidate's score.
    pub explain: Option<bool>,
}

/// A suggested skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Suggested {
    /// The skill's full name, with its namespaces.
    #[schema(example = "mcp/email")]
    pub name: String,
    /// The skill's line in the index.
    pub summary: String,
    /// `similarity` x `importance` x `recency`.
    pub score: f32,
    /// Fifth root of the probability relative to the best skill, 0 to 1.
    pub similarity: f32,
    /// Importance, 0 to 1. It decreases with each idle day and changes with the outcomes of uses. It is never below
    /// the skill's minimum.
    pub importance: f32,
    /// Factor for recent use, 1 to 1.5: 1 + 0.5 x 0.5^(days since the last use / 7).
    pub recency: f32,
    /// Explanation of the score in words and numbers, with the skill's relations in the graph.
    pub reason: String,
    /// Whether a turn would include the skill: the context reaches `min_score`, and the skill is close to the best
    /// one. MCP shows this to models.
    #[serde(skip)]
    pub fits: bool,
    /// Whether the context forbids the skill: "without mcp/email". A turn would not include it.
    pub excluded: bool,
    /// Whether the skill contains text from a tainted session that no person has approved. Such text is information,
    /// not instructions.
    pub tainted: bool,
}

/// Suggested skills.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Suggestions {
    /// The suggested skills, best first.
    pub items: Vec<Suggested>,
    /// The scores and decisions; absent unless requested with `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// Maximum number of ranked skills. It exceeds the limit, because importance and recency reorder skills of similar
/// fit.
const LOOKED_AT: usize = 50;
/// Number of days after which the recency bonus is halved.
const HALF_LIFE_DAYS: f32 = 7.0;
/// Recency bonus of a skill used just now, as a share of its score.
const MOST_BOOST: f32 = 0.5;
/// Exponent that flattens similarity, because likelihoods differ by orders of magnitude, but importance and recency
/// only by halves. With it, each skill that a turn would include has at least a third of the best one's similarity.
const SOFTENED: f32 = 0.2;
/// Maximum number of relations in a reason.
const NEIGHBOURS: usize = 3;

/// Suggests skills that fit a situation.
///
/// # Errors
/// `Malformed` if the context or limit is invalid.
pub async fn suggest_skills(ctx: &Ctx, query: &SuggestSkills) -> Result<Suggestions> {
    ctx.principal.require(Scope::SkillsRead)?;
    check_question("context", &query.context)?;
    let limit = best_limit(query.limit.unwrap_or(5))?;
    let embedding = embed(ctx, &query.context, Some(Instant::now() + PATIENCE));
    let (catalogue, embedding) = tokio::join!(catalogue_now(ctx), embedding);
    let (catalogue, (embedding, is_late)) = (catalogue?, embedding?);
    let asked = Query { message: &query.context, embedding, searched: true, limit: LOOKED_AT, ..Query::default() };
    let ranked = rank(ctx, &catalogue, asked).await?;
    let found = list_found(&catalogue, &ranked);
    let ranking = &ranked.ranking;
    let min_score = ctx.principal.settings().min_score(Channel::default());
    let known = |hit: &Hit| catalogue.skills.get(hit.skill).map(|skill| skill.id);
    let fitting: HashSet<SkillId> = ranking.relevant(min_score).iter().filter_map(known).collect();
    let ids: Vec<SkillId> = found.iter().map(|found| found.item.id).collect();
    let ranks: HashMap<SkillId, SkillRank> = if ids.is_empty() {
        HashMap::new()
    } else {
        let ranks = graph::list_standings(&ctx.app.db, &ctx.principal, &ids).await?;
        ranks.into_iter().map(|rank| (rank.id, rank)).collect()
    };
    let fading = fading_of(ctx);
    let suggest = |found: SourceHit<SearchedSkill>| {
        let rank = ranks.get(&found.item.id)?;
        let fits = fitting.contains(&found.item.id) && !found.item.excluded;
        Some((rank, Suggested { fits, ..suggested(&found, rank, fading, ctx.now()) }))
    };
    let mut items: Vec<(&SkillRank, Suggested)> = found.into_iter().filter_map(suggest).collect();
    items.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
    items.truncate(limit);
    let items = tell_surroundings(ctx, items).await?;
    let asked = RankingContext { searched: true, is_late, min_score, judgement: None };
    let explanation = match query.explain.unwrap_or_default() {
        true => Some(Explanation::of(ctx, &catalogue, ranking, &asked).await?),
        false => None,
    };
    Ok(Suggestions { items, explanation })
}

fn suggested(found: &SourceHit<SearchedSkill>, rank: &SkillRank, fading: Fading, now: DateTime<Utc>) -> Suggested {
    let skill = &found.item;
    let similarity = skill.closeness.powf(SOFTENED);
    let days = rank.last_used_at.map(|used| idle_days(used, now) as f32);
    let importance = rank.fading(fading).importance(rank.base, rank.idle_days(now), rank.outcomes);
    let recency = 1.0 + days.map_or(0.0, |days| MOST_BOOST * 0.5_f32.powf(days / HALF_LIFE_DAYS));
    // The factors are rounded, so that two answers within a minute are equal.
    let (importance, recency) = (rounded(importance), rounded(recency));
    let used = days.map_or_else(|| "never used".to_owned(), |days| format!("used {days:.0} days ago"));
    Suggested {
        name: skill.name.clone(),
        summary: skill.summary.clone(),
        score: similarity * importance * recency,
        similarity,
        importance,
        recency,
        reason: format!(
            "fits by {}; similarity {similarity:.2} x importance {importance:.2}{} x recency {recency:.2} ({used})",
            found.reason,
            describe_outcomes(rank.outcomes)
        ),
        fits: false,
        excluded: skill.excluded,
        tainted: rank.tainted,
    }
}

/// Rounds to thousandths; further digits carry no information.
fn rounded(factor: f32) -> f32 {
    (factor * 1000.0).round() / 1000.0
}

/// Describes the outcomes of uses. Returns an empty string if no outcomes are known.
pub(crate) fn describe_outcomes(outcomes: Outcomes) -> String {
    match outcomes.success_rate() {
        Some(rate) => format!(" ({:.0} % of {} uses went well)", rate * 100.0, outcomes.count()),
        None => String::new(),
    }
}

/// Adds to each reason the skill's relations in the graph, and marks tainted skills.
async fn tell_surroundings(ctx: &Ctx, items: Vec<(&SkillRank, Suggested)>) -> Result<Vec<Suggested>> {
    let ids: Vec<SkillId> = items.iter().map(|(rank, _)| rank.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let seen = RelationLimits { most: NEIGHBOURS as i64, now: ctx.now() };
    let (around, tainted) = tokio::try_join!(
        graph::list_surroundings(&ctx.app.db, &ctx.principal, &ids, seen),
        skills::find_tainted(&ctx.app.db, &ctx.principal, &ids, ctx.now())
    )?;
    let suggestions = items.into_iter().map(|(rank, item)| {
        let around: Vec<&Neighbour> = around.iter().filter(|near| near.skill == rank.id).take(NEIGHBOURS).collect();
        let reason = item.reason + &tell_around(rank.memories, &around);
        Suggested { reason, tainted: tainted.contains(&rank.id), ..item }
    });
    Ok(suggestions.collect())
}

fn tell_around(memories: i64, around: &[&Neighbour]) -> String {
    let relation = |near: &&Neighbour| match near.is_from || near.kind.is_symmetric() {
        true => format!("{} {}", in_words(near.kind), near.other),
        false => format!("{} {} it", near.other, in_words(near.kind)),
    };
    let plural = if memories == 1 { "y" } else { "ies" };
    let named = (memories > 0).then(|| format!("named by {memories} memor{plural}"));
    let sentences: Vec<String> = around.iter().map(relation).chain(named).collect();
    if sentences.is_empty() { String::new() } else { format!("; {}", sentences.join(", ")) }
}
