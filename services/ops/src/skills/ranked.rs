//! The skills of a user by what they matter in the graph.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{Fading, standing_out};
use knowhow_domain::{Result, SkillId};
use knowhow_store::graph::{self, RankedFilter, Standing};
use knowhow_store::skills;

use super::list::{Cursor, ListSkills};
use super::view::widen;
use crate::Ctx;
use crate::answers::{KeptItem, ShownItem, SkillPage};
use crate::graph::fading_of;
use crate::page::Page;
use crate::recall::tell_outcomes;

/// A skill with its place.
struct Ranked {
    id: SkillId,
    name: String,
    score: f32,
    reason: String,
}

/// A page of the user's skills, those that matter most first. All are looked at for each page: what a skill matters follows
/// from how long it is idle and what names it, and is nowhere kept.
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
    let standings = graph::list_ranked(&ctx.app.db, &ctx.principal, &filter, now).await?;
    let mut ranked: Vec<Ranked> =
        standings.iter().map(|(standing, relations)| Ranked::of(standing, *relations, fading, now)).collect();
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
        let line = KeptItem::with_count(row);
        Some(line.map(|(item, count)| ShownItem::scored(item, count, widen(skill.score), &skill.reason)))
    });
    Ok(SkillPage::new(shown.collect::<Result<_>>()?, next_cursor))
}

impl Ranked {
    /// By whole idle days: the list is the same for a day, unless something happens.
    fn of(standing: &Standing, relations: f64, fading: Fading, now: DateTime<Utc>) -> Self {
        let days = standing.idle_days(now).floor();
        let importance = standing.fading(fading).importance(standing.base, days, standing.outcomes);
        let linked = standing_out(standing.memories, relations);
        let told = tell_outcomes(standing.outcomes);
        let (base, memories) = (standing.base, standing.memories);
        let reason = format!(
            "importance {importance:.2} (set to {base:.2}, {days:.0} days idle){told} x links {linked:.2} (memories: \
             {memories}, relations: {relations:.1})"
        );
        Self { id: standing.id, name: standing.name.clone(), score: importance * linked, reason }
    }
}
