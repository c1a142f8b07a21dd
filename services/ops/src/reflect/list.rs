//! Reflections, a page at a time.

use knowhow_domain::{Cadence, Reflection, ReflectionId, Result, Scope};
use knowhow_store::reflections;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Ctx;
use crate::page::{Page, PageQuery, rows_for};

/// Which reflections.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListReflections {
    /// Those of days, weeks or months alone.
    #[param(inline)]
    pub cadence: Option<Cadence>,
    /// The page to read.
    #[serde(skip)]
    #[param(ignore)]
    pub page: PageQuery,
}

/// Lists the caller's reflections, the newest first.
///
/// # Errors
/// `Malformed` for a limit or cursor that cannot be.
pub async fn list_reflections(ctx: &Ctx, query: &ListReflections) -> Result<Page<Reflection>> {
    ctx.principal.require(Scope::Memories)?;
    let (limit, before) = (query.page.limit()?, query.page.after()?.unwrap_or(ReflectionId::LAST));
    let asked = reflections::ListQuery { cadence: query.cadence, before, limit: rows_for(limit) };
    let rows = reflections::list(&ctx.app.db, &ctx.principal, asked).await?;
    Page::of(rows, limit, |last| last.id)
}
