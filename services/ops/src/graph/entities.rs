//! List: the things that memories name.

use knowhow_domain::graph::{Entity, EntityKind};
use knowhow_domain::{EntityId, Result, Scope};
use knowhow_store::Window;
use knowhow_store::graph::{self, EntityFilter};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Ctx;
use crate::page::{Page, after, check_question, limit, rows_for};

/// Selects entities.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListEntities {
    /// Those whose name has this in it; case, hyphens and blanks make no difference.
    #[param(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// Those of this kind alone.
    pub kind: Option<EntityKind>,
    /// Largest number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Lists the things that memories name, skills among them, the newest first.
///
/// # Errors
/// `Malformed` for a question, limit or cursor that cannot be.
pub async fn list_entities(ctx: &Ctx, query: &ListEntities) -> Result<Page<Entity>> {
    ctx.principal.require(Scope::Memories)?;
    if let Some(q) = &query.q {
        check_question("q", q)?;
    }
    let (limit, before) = (limit(query.limit)?, after::<EntityId>(query.cursor.as_deref())?);
    let filter = EntityFilter { q: query.q.as_deref(), kind: query.kind };
    let page = Window { behind: before.unwrap_or(EntityId::LAST), limit: rows_for(limit) };
    let rows = graph::list_entities(&ctx.app.db, &ctx.principal, &filter, page).await?;
    Page::of(rows, limit, |last| last.id)
}
