//! Lists the entities that memories name.

use knowhow_domain::graph::{Entity, EntityKind};
use knowhow_domain::{EntityId, Result, Scope};
use knowhow_store::Window;
use knowhow_store::graph::{self, EntityFilter};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Ctx;
use crate::context::page::{Page, after, check_question, limit, rows_for};

/// Filters for a list of entities.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListEntities {
    /// Only names that contain this text; case, hyphens and blanks are ignored.
    #[param(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// Only entities of this kind.
    pub kind: Option<EntityKind>,
    /// Maximum number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Lists the entities that memories name, including skills, newest first.
///
/// # Errors
/// `Malformed` for an invalid question, limit or cursor.
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
