//! Suggest: skills that may help in a context, by similarity, importance and recency.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{Fading, Outcomes, idle_days};
use knowhow_domain::recall::Hit;
use knowhow_domain::{Channel, Result, Scope, SkillId};
use knowhow_store::graph::{self, Neighbour, Seen, Standing};
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use super::explain::{Asked, Explanation};
use super::search::PATIENCE;
use super::source::Found;
use super::{Query, SearchedSkill, catalogue_now, embed, list_found, rank};
use crate::Ctx;
use crate::graph::{fading_of, in_words};
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
    /// Largest number of items to return; by default 5.
    #[param(minimum = 1, maximum = 50)]
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
    /// 0 to 1. It fades with each idle day, and is more or less by how uses turned out; never below the skill's floor.
    pub importance: f32,
    /// 1, and up to 1.5 for what was used lately: 1 + 0.5 x 0.5^(days since / 7).
    pub recency: f32,
    /// Why, in words and numbers, with what stands around it in the graph.
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
/// Most relations that a reason tells.
const NEIGHBOURS: usize = 3;

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
    let standings: HashMap<SkillId, Standing> = if ids.is_empty() {
        HashMap::new()
    } else {
        let standings = graph::list_standings(&ctx.app.db, &ctx.principal, &ids).await?;
        standings.into_iter().map(|standing| (standing.id, standing)).collect()
    };
    let fading = fading_of(ctx);
    let suggest = |found: Found<SearchedSkill>| {
        let standing = standings.get(&found.item.id)?;
        let fits = fitting.contains(&found.item.id);
        Some((standing, Suggested { fits, ..suggested(&found, standing, fading, ctx.now()) }))
    };
    let mut items: Vec<(&Standing, Suggested)> = found.into_iter().filter_map(suggest).collect();
    items.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
    items.truncate(limit);
    let items = tell_surroundings(ctx, items).await?;
    let asked = Asked { searched: true, is_late, min_score };
    let explanation = match query.explain.unwrap_or_default() {
        true => Some(Explanation::of(ctx, &catalogue, &ranking, &asked).await?),
        false => None,
    };
    Ok(Suggestions { items, explanation })
}

fn suggested(found: &Found<SearchedSkill>, standing: &Standing, fading: Fading, now: DateTime<Utc>) -> Suggested {
    let skill = &found.item;
    let similarity = skill.closeness.powf(SOFTENED);
    let days = standing.last_used_at.map(|used| idle_days(used, now) as f32);
    let importance = standing.fading(fading).importance(standing.base, standing.idle_days(now), standing.outcomes);
    let recency = 1.0 + days.map_or(0.0, |days| MOST_BOOST * 0.5_f32.powf(days / HALF_LIFE_DAYS));
    // Two answers of one minute are the same.
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
            tell_outcomes(standing.outcomes)
        ),
        fits: false,
        tainted: standing.tainted,
    }
}

/// A thousandth tells nothing more.
fn rounded(factor: f32) -> f32 {
    (factor * 1000.0).round() / 1000.0
}

/// How uses turned out, where that is known.
pub(crate) fn tell_outcomes(outcomes: Outcomes) -> String {
    match outcomes.success_rate() {
        Some(rate) => format!(" ({:.0} % of {} uses went well)", rate * 100.0, outcomes.count()),
        None => String::new(),
    }
}

/// Adds to each reason what stands around the skill, and marks what is not to be trusted.
async fn tell_surroundings(ctx: &Ctx, items: Vec<(&Standing, Suggested)>) -> Result<Vec<Suggested>> {
    let ids: Vec<SkillId> = items.iter().map(|(standing, _)| standing.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let seen = Seen { most: NEIGHBOURS as i64, now: ctx.now() };
    let (around, tainted) = tokio::try_join!(
        graph::list_surroundings(&ctx.app.db, &ctx.principal, &ids, seen),
        skills::find_tainted(&ctx.app.db, &ctx.principal, &ids, ctx.now())
    )?;
    let told = items.into_iter().map(|(standing, item)| {
        let around: Vec<&Neighbour> = around.iter().filter(|near| near.skill == standing.id).take(NEIGHBOURS).collect();
        let reason = item.reason + &tell_around(standing.memories, &around);
        Suggested { reason, tainted: tainted.contains(&standing.id), ..item }
    });
    Ok(told.collect())
}

fn tell_around(memories: i64, around: &[&Neighbour]) -> String {
    let relation = |near: &&Neighbour| match near.is_from || near.kind.is_symmetric() {
        true => format!("{} {}", in_words(near.kind), near.other),
        false => format!("{} {} it", near.other, in_words(near.kind)),
    };
    let plural = if memories == 1 { "y" } else { "ies" };
    let named = (memories > 0).then(|| format!("named by {memories} memor{plural}"));
    let told: Vec<String> = around.iter().map(relation).chain(named).collect();
    if told.is_empty() { String::new() } else { format!("; {}", told.join(", ")) }
}
