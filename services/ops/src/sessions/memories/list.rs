//! Lists memories, a page at a time.

use knowhow_domain::text::invisible::shown_otherwise;
use knowhow_domain::{Memory, MemoryId, MemoryKind, Result, Scope};
use knowhow_store::sessions::memories::{self, MemoryFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::context::page::{self, Page, check_filter, window};
use crate::review::{Whose, access_user};

/// Filters for a list of memories.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMemories {
    /// Only memories of this kind.
    pub kind: Option<MemoryKind>,
    /// Only memories with this tag.
    #[param(max_length = 100)]
    pub tag: Option<String>,
    /// Only core memories (`true`), which are part of every snapshot, or only others (`false`).
    pub core: Option<bool>,
    /// Only tainted memories (`true`), or only untainted ones (`false`).
    pub tainted: Option<bool>,
    /// Return the memories of this user, by external id. Only for admins, with a reason in the header
    /// `Knowhow-Reason`.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
    /// Maximum number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// A memory in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ListedMemory {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// The content with invisible characters written as code points, e.g. `<U+200B>`, for the reviewer; absent
    /// without such characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// Lists memories, newest first: the caller's own or, for an admin with a reason, a user's.
///
/// # Errors
/// `Malformed` if the limit or cursor is invalid. To read another user's memories, the caller must be an admin with
/// the scope `review` and give a reason; otherwise `Forbidden`. `NotFound` if that user is unknown.
pub async fn list_memories(ctx: &Ctx, query: &ListMemories) -> Result<Page<ListedMemory>> {
    ctx.principal.require(Scope::Memories)?;
    let (limit, before) = (page::limit(query.limit)?, page::after(query.cursor.as_deref())?.unwrap_or(MemoryId::LAST));
    check_filter("tag", query.tag.as_deref(), 100)?;
    let filter = MemoryFilter { kind: query.kind, tag: query.tag.as_deref(), core: query.core, tainted: query.tainted };
    let whose = Whose { user: query.user.clone(), reason: query.reason.clone() };
    let ctx = &access_user(ctx, &whose, "memory.read").await?.ctx;
    let rows = memories::list(&ctx.app.db, &ctx.principal, &filter, window(before, limit)).await?;
    let page = Page::of(rows, limit, |last| last.id)?;
    let shown = |memory: &Memory| shown_otherwise(&memory.content).filter(|_| memory.tainted);
    Ok(page.map(|memory| ListedMemory { shown: shown(&memory), memory }))
}
