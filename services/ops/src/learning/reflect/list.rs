//! Lists reflections, a page at a time.

use knowhow_domain::{Cadence, Reflection, ReflectionId, Result, Scope};
use knowhow_store::learning::reflections;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Ctx;
use crate::context::page::{Page, PageQuery, rows_for};

/// Filters for a list of reflections.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListReflections {
    /// Only daily, weekly or monthly reflections.
    #[param(inline)]
    pub cadence: Option<Cadence>,
    #[serde(skip)]
    #[param(ignore)]
    pub page: PageQuery,
}

/// Lists the caller's reflections, newest first.
///
/// # Errors
/// `Malformed` for an invalid limit or cursor.
pub async fn list_reflections(ctx: &Ctx, query: &ListReflections) -> Result<Page<Reflection>> {
    ctx.principal.require(Scope::Memories)?;
    let (limit, before) = (query.page.limit()?, query.page.after()?.unwrap_or(ReflectionId::LAST));
    let asked = reflections::ReflectionListQuery { cadence: query.cadence, before, limit: rows_for(limit) };
    let rows = reflections::list(&ctx.app.db, &ctx.principal, asked).await?;
    Page::of(rows, limit, |last| last.id)
}
