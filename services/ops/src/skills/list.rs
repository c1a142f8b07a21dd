//! The index, a page at a time.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::scanner::Verdict;
use knowhow_domain::{Error, IndexItem, Result, Scope, SkillId};
use knowhow_store::scans;
use knowhow_store::skills::{self, Checked, Count, ListQuery};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ranked::rank_skills;
use crate::Ctx;
use crate::answers::{KeptItem, KeptPage, ShownItem, SkillPage};
use crate::page::{self, Page, check_filter, check_question, rows_for};
use crate::recall::{Found, SearchedSkill, search_skills, search_skills_in};

/// Selects the skills of a list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListSkills {
    /// Names that begin so, e.g. `mcp/`.
    #[param(max_length = 200)]
    #[schema(max_length = 200)]
    pub prefix: Option<String>,
    /// Exactly this category.
    #[param(max_length = 64)]
    #[schema(max_length = 64)]
    pub category: Option<String>,
    /// Carrying this tag.
    #[param(max_length = 100)]
    #[schema(max_length = 100)]
    pub tag: Option<String>,
    /// In which the scanner has found something that is to be reviewed at least, or that looks like an attack. All in one
    /// page, by name; not together with `q`, `ranked` or a cursor.
    #[param(inline)]
    #[schema(inline)]
    pub findings: Option<LeastFindings>,
    /// Words to search for, in any language: the best skills first, with `score` and `reason`, in one page.
    #[param(min_length = 1, max_length = 4096)]
    #[schema(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// By what they matter in the graph, with `score` and `reason`, instead of by name: importance, faded by idle days and
    /// shifted by outcomes, and up to half more for memories that name them and for their relations.
    pub ranked: Option<bool>,
    /// Largest number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    #[schema(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    #[schema(max_length = 2048)]
    pub cursor: Option<String>,
}

/// The least verdict of the scanner that skills are listed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LeastFindings {
    /// A person should see it.
    Review,
    /// It looks like an attack.
    Quarantine,
}

/// What a cursor of this list holds. The order is part of it: a cursor of one order means nothing in the other.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cursor {
    pub(super) name: String,
    /// Of a ranked list.
    #[serde(default)]
    pub(super) score: Option<f32>,
}

/// Lists skills.
///
/// # Errors
/// `Malformed` for a limit, cursor or filter that cannot be.
pub async fn list_skills(ctx: &Ctx, query: &ListSkills) -> Result<SkillPage> {
    ctx.principal.require(Scope::SkillsRead)?;
    let ranked = query.ranked.unwrap_or_default();
    let limit = page::limit(query.limit)?;
    let cursor = page::after::<Cursor>(query.cursor.as_deref())?;
    if cursor.as_ref().is_some_and(|c| c.score.is_some() != ranked) {
        return Err(Error::Malformed("the cursor belongs to a list in another order; begin again without it".into()));
    }
    check_filter("prefix", query.prefix.as_deref(), 200)?;
    check_filter("category", query.category.as_deref(), 64)?;
    check_filter("tag", query.tag.as_deref(), 100)?;
    if let Some(least) = query.findings {
        return list_flagged(ctx, query, least).await;
    }
    if let Some(q) = &query.q {
        return find_skills(ctx, query, q, limit).await;
    }
    if ranked {
        return rank_skills(ctx, query, limit, cursor).await;
    }
    let is_kept = cursor.is_none() && !is_filtered(query);
    if is_kept && let Some(page) = show_kept_page(ctx, limit).await? {
        return Ok(page);
    }
    let wanted = ListQuery {
        prefix: query.prefix.clone(),
        category: query.category.clone(),
        tag: query.tag.clone(),
        after: cursor.map(|cursor| cursor.name),
        limit: rows_for(limit),
    };
    let mut read = skills::list_page(&ctx.app.db, &ctx.principal, &wanted).await?;
    let (page, counts) = page_of(std::mem::take(&mut read.rows), limit)?;
    if is_kept {
        ctx.app.catalogues.answers.indexes.keep_page(ctx, read.moment, &page);
    }
    Ok(show(&page, counts))
}

/// The skills in which the scanner has found something: they are few.
async fn list_flagged(ctx: &Ctx, query: &ListSkills, least: LeastFindings) -> Result<SkillPage> {
    if query.q.is_some() || query.ranked.is_some() || query.cursor.is_some() {
        return Err(Error::Malformed(
            "findings are listed in one page, by name: send neither q, ranked nor cursor".into(),
        ));
    }
    let graver = |verdict: &Verdict| match least {
        LeastFindings::Review => *verdict >= Verdict::Review,
        LeastFindings::Quarantine => *verdict >= Verdict::Quarantine,
    };
    let verdicts = [Verdict::Review, Verdict::Quarantine, Verdict::Reject];
    let verdicts: Vec<String> = verdicts.iter().filter(|verdict| graver(verdict)).map(Verdict::to_string).collect();
    let ids = scans::list_found(&ctx.app.db, &ctx.principal, &verdicts).await?;
    let mut read = skills::list_rows(&ctx.app.db, &ctx.principal, &ids).await?;
    read.rows.retain(|(_, row)| passes(query, row));
    read.rows.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    let lines = read.rows.into_iter().map(|(_, row)| {
        let (item, count) = KeptItem::with_count(row)?;
        Ok(ShownItem::plain(item, count))
    });
    Ok(SkillPage::new(lines.collect::<Result<_>>()?, None))
}

/// A first page that is kept, with the counts of now; `None` where none is, or the skills have changed since.
async fn show_kept_page(ctx: &Ctx, limit: usize) -> Result<Option<SkillPage>> {
    let Some(index) = ctx.app.catalogues.answers.indexes.find(ctx) else { return Ok(None) };
    let Some(page) = index.page(limit) else { return Ok(None) };
    let checked = skills::check_counts(&ctx.app.db, &ctx.principal).await?;
    if checked.revisions.skills != index.revision {
        return Ok(None);
    }
    let counts = page.items.iter().map(|(id, _)| checked.count(*id));
    Ok(Some(show(page, counts)))
}

/// The page that rows begin, and its counts.
fn page_of(rows: Vec<(SkillId, IndexItem)>, limit: usize) -> Result<(Arc<KeptPage>, Vec<Count>)> {
    let cursor = |(_, last): &(SkillId, IndexItem)| Cursor { name: last.name.clone(), score: None };
    let Page { items, next_cursor } = Page::of(rows, limit, cursor)?;
    let (mut kept, mut counts) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
    for (id, item) in items {
        let (item, count) = KeptItem::with_count(item)?;
        kept.push((id, item));
        counts.push(count);
    }
    Ok((Arc::new(KeptPage { limit, items: kept, next_cursor }), counts))
}

/// The lines of a page with their counts.
fn show(page: &KeptPage, counts: impl IntoIterator<Item = Count>) -> SkillPage {
    let items = page.items.iter().zip(counts).map(|((_, item), count)| ShownItem::plain(item.clone(), count));
    SkillPage::new(items.collect(), page.next_cursor.clone())
}

fn is_filtered(query: &ListSkills) -> bool {
    query.prefix.is_some() || query.category.is_some() || query.tag.is_some()
}

/// The best skills for a question that pass the filters.
async fn find_skills(ctx: &Ctx, query: &ListSkills, q: &str, limit: usize) -> Result<SkillPage> {
    check_question("q", q)?;
    if query.cursor.is_some() {
        return Err(Error::Malformed("a search has one page; send it without a cursor".into()));
    }
    let index = ctx.app.catalogues.answers.indexes.find(ctx).filter(|_| !is_filtered(query));
    let Some(index) = index else {
        let most = if is_filtered(query) { usize::MAX } else { limit };
        let found = search_skills(ctx, q, most).await?;
        return read_found(ctx, query, found, limit).await;
    };
    // The counts come along with the revisions that the search asks for anyway.
    let mut checked = Checked::default();
    let catalogue = async {
        checked = skills::check_counts(&ctx.app.db, &ctx.principal).await?;
        ctx.app.catalogues.get(ctx, checked.revisions).await
    };
    let found = search_skills_in(ctx, catalogue, q, limit).await?;
    let is_current = checked.revisions.skills == index.revision;
    let lines: Option<Vec<_>> = found.iter().map(|found| index.item(found.item.id)).collect();
    let Some(lines) = lines.filter(|_| is_current) else { return read_found(ctx, query, found, limit).await };
    let items = found.iter().zip(lines).map(|(found, line)| show_found(found, line, checked.count(found.item.id)));
    Ok(SkillPage::new(items.collect(), None))
}

/// The lines of found skills, read from the database.
async fn read_found(
    ctx: &Ctx,
    query: &ListSkills,
    found: Vec<Found<SearchedSkill>>,
    limit: usize,
) -> Result<SkillPage> {
    let ids: Vec<SkillId> = found.iter().map(|found| found.item.id).collect();
    if ids.is_empty() {
        return Ok(SkillPage::new(Vec::new(), None));
    }
    let mut read = skills::list_rows(&ctx.app.db, &ctx.principal, &ids).await?;
    let (mut items, mut lines) = (Vec::new(), HashMap::new());
    for (id, row) in std::mem::take(&mut read.rows).into_iter().filter(|(_, row)| passes(query, row)) {
        let (item, count) = KeptItem::with_count(row)?;
        items.push((id, item.clone()));
        lines.insert(id, (item, count));
    }
    ctx.app.catalogues.answers.indexes.keep_items(ctx, read.moment, &items);
    let shown = found.iter().filter_map(|found| {
        let (line, count) = lines.get(&found.item.id)?;
        Some(show_found(found, line, *count))
    });
    Ok(SkillPage::new(shown.take(limit).collect(), None))
}

fn show_found(found: &Found<SearchedSkill>, line: &Arc<KeptItem>, count: Count) -> ShownItem {
    ShownItem::scored(line.clone(), count, found.score.into(), &found.reason)
}

fn passes(query: &ListSkills, row: &IndexItem) -> bool {
    query.prefix.as_ref().is_none_or(|prefix| row.name.starts_with(prefix))
        && query.category.as_ref().is_none_or(|category| row.category.as_ref() == Some(category))
        && query.tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
}
