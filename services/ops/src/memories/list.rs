//! Memories, a page at a time.

use knowhow_domain::invisible::shown_otherwise;
use knowhow_domain::{Memory, MemoryId, MemoryKind, Result, Scope};
use knowhow_store::memories::{self, MemoryFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::page::{self, Page, check_filter, window};
use crate::review::{Whose, reach_user};

/// Which memories to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMemories {
    /// Only memories of this kind.
    pub kind: Option<MemoryKind>,
    /// Only memories with this tag.
    #[param(max_length = 100)]
    pub tag: Option<String>,
    /// Those in every snapshot, or the others.
    pub core: Option<bool>,
    /// Those that are marked, or the others.
    pub tainted: Option<bool>,
    /// Those of this user, by external id: for admins, who say why in the header `Knowhow-Reason`.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
    /// Largest number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// A memory in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ListedMemory {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// The content with invisible characters as their code points, such as `<U+200B>`, for the person who approves it; absent if
    /// there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// Lists memories, the newest first: the caller's own, or, for an admin who says why, a user's.
///
/// # Errors
/// `Malformed` for a limit or cursor that cannot be; for another's `Forbidden` without being an admin who may review, or without a
/// reason, and `NotFound` for a user that there is not.
pub async fn list_memories(ctx: &Ctx, query: &ListMemories) -> Result<Page<ListedMemory>> {
    ctx.principal.require(Scope::Memories)?;
    let (limit, before) = (page::limit(query.limit)?, page::after(query.cursor.as_deref())?.unwrap_or(MemoryId::LAST));
    check_filter("tag", query.tag.as_deref(), 100)?;
    let filter = MemoryFilter { kind: query.kind, tag: query.tag.as_deref(), core: query.core, tainted: query.tainted };
    let whose = Whose { user: query.user.clone(), reason: query.reason.clone() };
    let ctx = &reach_user(ctx, &whose, "memory.read").await?.ctx;
    let rows = memories::list(&ctx.app.db, &ctx.principal, &filter, window(before, limit)).await?;
    let page = Page::of(rows, limit, |last| last.id)?;
    let shown = |memory: &Memory| shown_otherwise(&memory.content).filter(|_| memory.tainted);
    Ok(page.map(|memory| ListedMemory { shown: shown(&memory), memory }))
}
