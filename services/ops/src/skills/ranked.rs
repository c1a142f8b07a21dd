//! Lists a user's skills by their weight in the graph.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{Fading, link_factor};
use knowhow_domain::{Result, SkillId};
use knowhow_store::graph::{self, RankedFilter, SkillRank};
use knowhow_store::skills;

use super::list_query::{Cursor, ListSkills};
use super::view::widen;
use crate::Ctx;
use crate::context::page::Page;
use crate::graph::fading_of;
use crate::platform::answer_cache::{CachedItem, ShownItem, SkillPage};
use crate::recall::describe_outcomes;

/// A skill with its score.
struct Ranked {
    id: SkillId,
    name: String,
    score: f32,
    reason: String,
}

/// Returns a page of the user's skills, highest score first. The scores of all skills are computed for each page.
/// They are not stored, because they depend on idle time and links.
pub(super) async fn rank_skills(
    ctx: &Ctx,
    query: &ListSkills,
    limit: usize,
    after: Option<Cursor>,
) -> Result<SkillPage> {
    let filter = RankedFilter {
        prefix: query.prefix.as_deref().unwrap_or_default(),
        category: query.category.as_deref(),
        tag: query.tag.as_deref(),
    };
    let (fading, now) = (fading_of(ctx), ctx.now());
    let ranks = graph::list_ranked(&ctx.app.db, &ctx.principal, &filter, now).await?;
    let mut ranked: Vec<Ranked> =
        ranks.iter().map(|(rank, relations)| Ranked::of(rank, *relations, fading, now)).collect();
    if let Some(Cursor { name, score: Some(score) }) = &after {
        ranked.retain(|skill| skill.score < *score || skill.score == *score && skill.name > *name);
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
    ranked.truncate(limit + 1);
    let cursor = |last: &Ranked| Cursor { name: last.name.clone(), score: Some(last.score) };
    let Page { items, next_cursor } = Page::of(ranked, limit, cursor)?;
    let ids: Vec<SkillId> = items.iter().map(|skill| skill.id).collect();
    if ids.is_empty() {
        return Ok(SkillPage::new(Vec::new(), None));
    }
    let read = skills::list_rows(&ctx.app.db, &ctx.principal, &ids).await?;
    let mut rows: HashMap<_, _> = read.rows.into_iter().collect();
    let shown = items.into_iter().filter_map(|skill| {
        let row = rows.remove(&skill.id)?;
        let line = CachedItem::with_count(row);
        Some(line.map(|(item, count)| ShownItem::scored(item, count, widen(skill.score), &skill.reason)))
    });
    Ok(SkillPage::new(shown.collect::<Result<_>>()?, next_cursor))
}

impl Ranked {
    /// Returns a skill with its score. Idle time counts in whole days, so that the order is stable within a day
    /// unless a use or link is added.
    fn of(rank: &SkillRank, relations: f64, fading: Fading, now: DateTime<Utc>) -> Self {
        let days = rank.idle_days(now).floor();
        let importance = rank.fading(fading).importance(rank.base, days, rank.outcomes);
        let linked = link_factor(rank.memories, relations);
        let outcomes = describe_outcomes(rank.outcomes);
        let (base, memories) = (rank.base, rank.memories);
        let reason = format!(
            "importance {importance:.2} (set to {base:.2}, {days:.0} days idle){outcomes} x links {linked:.2} (memories: \
             {memories}, relations: {relations:.1})"
        );
        Self { id: rank.id, name: rank.name.clone(), score: importance * linked, reason }
    }
}
