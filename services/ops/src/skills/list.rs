//! The index, a page at a time.

use std::collections::HashMap;

use knowhow_domain::{Error, IndexItem, Result, Scope};
use knowhow_store::skills::{self, ListQuery, Position};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::view::widen;
use crate::Ctx;
use crate::page::{self, Page, check_filter, check_question, rows_for};
use crate::recall::search_skills;

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
    /// Words to search for, in any language: the best skills first, with `score` and `reason`, in one page.
    #[param(min_length = 1, max_length = 4096)]
    #[schema(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// By importance, with `score` and `reason`, instead of by name.
    pub ranked: Option<bool>,
    /// Most items to answer with.
    #[param(minimum = 1, maximum = 200, default = 50)]
    #[schema(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    #[schema(max_length = 2048)]
    pub cursor: Option<String>,
}

/// What a cursor of this list holds. The order is part of it: a cursor of one order means nothing in the other.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cursor {
    name: String,
    importance: f32,
    ranked: bool,
}

/// Lists skills.
///
/// # Errors
/// `Malformed` for a limit, cursor or filter that cannot be.
pub async fn list_skills(ctx: &Ctx, query: &ListSkills) -> Result<Page<IndexItem>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let ranked = query.ranked.unwrap_or_default();
    let limit = page::limit(query.limit)?;
    let cursor = page::after::<Cursor>(query.cursor.as_deref())?;
    if cursor.as_ref().is_some_and(|c| c.ranked != ranked) {
        return Err(Error::Malformed("the cursor belongs to a list in another order; begin again without it".into()));
    }
    check_filter("prefix", query.prefix.as_deref(), 200)?;
    check_filter("category", query.category.as_deref(), 64)?;
    check_filter("tag", query.tag.as_deref(), 100)?;
    if let Some(q) = &query.q {
        return find_skills(ctx, query, q, limit).await;
    }
    let wanted = ListQuery {
        prefix: query.prefix.clone(),
        category: query.category.clone(),
        tag: query.tag.clone(),
        after: cursor.map(|c| Position { name: c.name, importance: c.importance }),
        limit: rows_for(limit),
    };
    let rows = if ranked {
        skills::list_ranked_page(&ctx.app.db, &ctx.principal, &wanted).await?
    } else {
        skills::list_page(&ctx.app.db, &ctx.principal, &wanted).await?
    };
    let cursor = |last: &IndexItem| Cursor { name: last.name.clone(), importance: last.importance, ranked };
    Ok(Page::of(rows, limit, cursor)?.map(|item| if ranked { with_reason(item) } else { item }))
}

/// With what a ranked list is ordered by.
fn with_reason(item: IndexItem) -> IndexItem {
    let reason = format!("importance {:.2}, used {} times", item.importance, item.times_used);
    IndexItem { score: Some(widen(item.importance)), reason: Some(reason), ..item }
}

/// The best skills for a question that pass the filters.
async fn find_skills(ctx: &Ctx, query: &ListSkills, q: &str, limit: usize) -> Result<Page<IndexItem>> {
    check_question("q", q)?;
    if query.cursor.is_some() {
        return Err(Error::Malformed("a search has one page; send it without a cursor".into()));
    }
    let is_filtered = query.prefix.is_some() || query.category.is_some() || query.tag.is_some();
    let found = search_skills(ctx, q, if is_filtered { usize::MAX } else { limit }).await?;
    let ids: Vec<Uuid> = found.iter().map(|found| found.item.id).collect();
    let rows = if ids.is_empty() { Vec::new() } else { skills::list_rows(&ctx.app.db, &ctx.principal, &ids).await? };
    let mut rows: HashMap<Uuid, IndexItem> = rows.into_iter().filter(|(_, row)| passes(query, row)).collect();
    let items = found.into_iter().filter_map(|found| {
        let item = rows.remove(&found.item.id)?;
        Some(IndexItem { score: Some(found.score.into()), reason: Some(found.reason), ..item })
    });
    Ok(Page { items: items.take(limit).collect(), next_cursor: None })
}

fn passes(query: &ListSkills, row: &IndexItem) -> bool {
    query.prefix.as_ref().is_none_or(|prefix| row.name.starts_with(prefix))
        && query.category.as_ref().is_none_or(|category| row.category.as_ref() == Some(category))
        && query.tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
}
