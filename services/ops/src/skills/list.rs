//! Lists skills, a page at a time.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::review::scanner::Verdict;
use knowhow_domain::{Error, IndexItem, Result, Scope, SkillId};
use knowhow_store::review::scans;
use knowhow_store::skills::{self, Count, RevisionCounts, SkillListQuery};

use super::list_query::{Cursor, LeastFindings, ListSkills};
use super::ranked::rank_skills;
use crate::Ctx;
use crate::context::page::{self, Page, check_filter, check_question, rows_for};
use crate::platform::answer_cache::{CachedItem, CachedPage, ShownItem, SkillPage};
use crate::recall::{SearchedSkill, SourceHit, search_skills, search_skills_in};

/// Lists skills.
///
/// # Errors
/// `Malformed` if the limit, cursor or a filter is invalid.
pub async fn list_skills(ctx: &Ctx, query: &ListSkills) -> Result<SkillPage> {
    ctx.principal.require(Scope::SkillsRead)?;
    let ranked = query.ranked.unwrap_or_default();
    let limit = page::limit(query.limit)?;
    let cursor = page::after::<Cursor>(query.cursor.as_deref())?;
    if cursor.as_ref().is_some_and(|c| c.score.is_some() != ranked) {
        return Err(Error::Malformed("the cursor belongs to a list in another order; start again without it".into()));
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
    let is_kept = cursor.is_none() && !query.is_filtered();
    if is_kept && let Some(page) = show_cached_page(ctx, limit).await? {
        return Ok(page);
    }
    let wanted = SkillListQuery {
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

/// Lists skills with scanner findings in a single page, because there are few.
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
    read.rows.retain(|(_, row)| query.admits(row));
    read.rows.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    let lines = read.rows.into_iter().map(|(_, row)| {
        let (item, count) = CachedItem::with_count(row)?;
        Ok(ShownItem::plain(item, count))
    });
    Ok(SkillPage::new(lines.collect::<Result<_>>()?, None))
}

/// Returns the cached first page with current counts. Returns `None` if the page is not cached or the skills have
/// changed.
async fn show_cached_page(ctx: &Ctx, limit: usize) -> Result<Option<SkillPage>> {
    let Some(index) = ctx.app.catalogues.answers.indexes.find(ctx) else { return Ok(None) };
    let Some(page) = index.page(limit) else { return Ok(None) };
    let checked = skills::check_counts(&ctx.app.db, &ctx.principal).await?;
    if checked.revisions.skills != index.revision {
        return Ok(None);
    }
    let counts = page.items.iter().map(|(id, _)| checked.count(*id));
    Ok(Some(show(page, counts)))
}

/// Builds the page that starts with these rows. The use counts are returned separately, because they are not cached.
fn page_of(rows: Vec<(SkillId, IndexItem)>, limit: usize) -> Result<(Arc<CachedPage>, Vec<Count>)> {
    let cursor = |(_, last): &(SkillId, IndexItem)| Cursor { name: last.name.clone(), score: None };
    let Page { items, next_cursor } = Page::of(rows, limit, cursor)?;
    let (mut kept, mut counts) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
    for (id, item) in items {
        let (item, count) = CachedItem::with_count(item)?;
        kept.push((id, item));
        counts.push(count);
    }
    Ok((Arc::new(CachedPage { limit, items: kept, next_cursor }), counts))
}

/// Combines the items of a page with their use counts.
fn show(page: &CachedPage, counts: impl IntoIterator<Item = Count>) -> SkillPage {
    let items = page.items.iter().zip(counts).map(|((_, item), count)| ShownItem::plain(item.clone(), count));
    SkillPage::new(items.collect(), page.next_cursor.clone())
}

/// Finds the skills that fit a question best and pass the filters.
async fn find_skills(ctx: &Ctx, query: &ListSkills, q: &str, limit: usize) -> Result<SkillPage> {
    check_question("q", q)?;
    if query.cursor.is_some() {
        return Err(Error::Malformed("a search has one page; send it without a cursor".into()));
    }
    let index = ctx.app.catalogues.answers.indexes.find(ctx).filter(|_| !query.is_filtered());
    let Some(index) = index else {
        let most = if query.is_filtered() { usize::MAX } else { limit };
        let found = search_skills(ctx, q, most).await?;
        return read_found(ctx, query, found, limit).await;
    };
    // Reads both the counts and the revisions that the search needs with one query.
    let mut checked = RevisionCounts::default();
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

/// Reads the items of found skills from the database, and applies the filters.
async fn read_found(
    ctx: &Ctx,
    query: &ListSkills,
    found: Vec<SourceHit<SearchedSkill>>,
    limit: usize,
) -> Result<SkillPage> {
    let ids: Vec<SkillId> = found.iter().map(|found| found.item.id).collect();
    if ids.is_empty() {
        return Ok(SkillPage::new(Vec::new(), None));
    }
    let mut read = skills::list_rows(&ctx.app.db, &ctx.principal, &ids).await?;
    let (mut items, mut lines) = (Vec::new(), HashMap::new());
    for (id, row) in std::mem::take(&mut read.rows).into_iter().filter(|(_, row)| query.admits(row)) {
        let (item, count) = CachedItem::with_count(row)?;
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

fn show_found(found: &SourceHit<SearchedSkill>, line: &Arc<CachedItem>, count: Count) -> ShownItem {
    ShownItem::scored(line.clone(), count, found.score.into(), &found.reason).excluded(found.item.excluded)
}
