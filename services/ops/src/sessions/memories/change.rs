//! Changes memories, and lists their earlier versions.

use knowhow_domain::graph::EntityName;
use knowhow_domain::kernel::bounds::share_or_null;
use knowhow_domain::{Error, Memory, MemoryId, MemoryVersion, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::sessions::memories::{self, ChangedMemory, MemoryWithWriter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::prepare::{PreparedText, WAIT, prepare_text};
use super::save::{MemoryFields, check_fields, full, missing};
use crate::Ctx;
use crate::change::guard::guard_memory;
use crate::context::idempotency::{LongText, Request};
use crate::context::page::Page;
use crate::graph::check_entities;
use crate::review::{Whose, access_user};

/// Changes of a memory. Absent members stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct ChangeMemory {
    /// The new text; a core memory has at most 500 characters.
    #[schema(min_length = 1, max_length = 8000)]
    pub content: Option<String>,
    /// Importance, 0 to 1.
    #[serde(default, deserialize_with = "share_or_null")]
    #[schema(minimum = 0, maximum = 1)]
    pub importance: Option<f32>,
    /// Labels, which replace the former ones.
    #[schema(max_items = 32)]
    pub tags: Option<Vec<String>>,
    /// Whether to include the memory in every snapshot.
    pub core: Option<bool>,
    /// The version that this change is based on. Any other version is a conflict.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
    /// People, places, tools and skills that the new text names, which replace the former ones. Only with `content`.
    /// Skills named in the text are detected automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 32)]
    pub entities: Option<Vec<EntityName>>,
}

/// Returns a memory of the caller.
///
/// # Errors
/// `NotFound` if the user has no such memory.
pub async fn get_memory(ctx: &Ctx, memory: &str) -> Result<Memory> {
    ctx.principal.require(Scope::Memories)?;
    find(ctx, parse_id(memory)?).await
}

/// Lists earlier versions of a memory, newest first: the caller's own or, for an admin with a reason, a user's.
///
/// # Errors
/// `NotFound` if the user has no such memory. To read another user's memory, the caller must be an admin with the
/// scope `review` and give a reason; otherwise `Forbidden`.
pub async fn list_memory_versions(ctx: &Ctx, memory: &str, whose: &Whose) -> Result<Page<MemoryVersion>> {
    ctx.principal.require(Scope::Memories)?;
    let ctx = &access_user(ctx, whose, "memory.read").await?.ctx;
    let id = parse_id(memory)?;
    find(ctx, id).await?;
    let items = memories::list_versions(&ctx.app.db, &ctx.principal, id).await?;
    Ok(Page { items, next_cursor: None })
}

/// Changes a memory as its next version. New snapshots contain the new text, and recall finds it immediately. A change
/// without effect makes no version.
///
/// # Errors
/// - `Invalid`
/// - `NotFound` if the user has no such memory
/// - `VersionConflict` if `expected_version` is not the current version
/// - `Conflict` `needs-review` if the memory is tainted, or the call comes from a tainted session
/// - `Conflict` `memory-exists` if another memory has the new text
/// - `Quota` if it would become core and the user has the maximum number of core memories
pub async fn change_memory(ctx: &Ctx, memory: &str, input: &ChangeMemory) -> Result<Memory> {
    ctx.principal.require(Scope::Memories)?;
    let id = parse_id(memory)?;
    // The stored flag decides about the length of the text, so that is checked again with the memory.
    check_fields(MemoryFields {
        content: input.content.as_deref(),
        core: input.core.unwrap_or_default(),
        importance: input.importance,
        tags: input.tags.as_deref().unwrap_or_default(),
    })?;
    let text = match &input.content {
        Some(content) => {
            let entities = check_entities(input.entities.as_deref().unwrap_or_default())?;
            Some(prepare_text(ctx, content, entities, WAIT).await?)
        }
        None if input.entities.is_some() => {
            return Err(Error::invalid("/entities", "belong to a text; send content too"));
        }
        None => None,
    };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.change").await?;
    let memory = ctx
        .once_in_short(&mut tx, Request { asked: &("memory.change", id, input), long: &input }, async |tx| {
            guard_memory(ctx, tx).await?;
            let MemoryWithWriter { memory, .. } = memories::find_for_update(tx, id).await?.ok_or_else(missing)?;
            write(ctx, tx, Changing { before: memory, input, text: text.as_ref() }).await
        })
        .await?;
    tx.commit().await?;
    Ok(memory)
}

/// A locked memory and its changes.
struct Changing<'a> {
    before: Memory,
    input: &'a ChangeMemory,
    /// Values computed from the new text; `None` without a new text.
    text: Option<&'a PreparedText>,
}

async fn write(ctx: &Ctx, tx: &mut WriteTx, changing: Changing<'_>) -> Result<Memory> {
    let Changing { before, input, text } = changing;
    if input.expected_version.is_some_and(|expected| expected != before.version) {
        return Err(Error::VersionConflict { current_version: before.version });
    }
    if before.tainted {
        let detail = "the memory is tainted; a reviewer has to approve it before it can be changed, or delete it";
        return Err(Error::Conflict { code: "needs-review", detail: detail.to_owned() });
    }
    let content = input.content.as_deref().unwrap_or(&before.content);
    let tags = input.tags.as_deref().unwrap_or(&before.tags);
    let importance = input.importance.unwrap_or(before.importance);
    let core = input.core.unwrap_or(before.core);
    check_fields(MemoryFields { content: Some(content), core, ..MemoryFields::default() })?;
    let has_new_text = content != before.content;
    if !has_new_text && tags == before.tags && importance == before.importance && core == before.core {
        return Ok(before);
    }
    let text = text.filter(|_| has_new_text);
    if has_new_text && let Some(same) = memories::find_same(tx, before.id, before.kind, content).await? {
        let detail = format!("memory {same} already has this text; delete one of the two instead");
        return Err(Error::Conflict { code: "memory-exists", detail });
    }
    let changed = ChangedMemory {
        before: &before,
        content,
        tags,
        importance,
        core,
        named: &ctx.call.named(None),
        is_doubtful: text.is_some_and(|text| text.is_doubtful),
        embedding: text.and_then(|text| text.embedding(ctx)),
        has_entities: input.entities.is_some(),
        now: ctx.now(),
    };
    let memory = memories::change(tx, &changed).await?.ok_or_else(full)?;
    if let Some(text) = text {
        text.link(ctx, tx, &memory);
    }
    Ok(memory)
}

/// The content is not stored with the answer, because a repeated request contains it or it is still stored.
impl LongText<Memory> for &ChangeMemory {
    fn shorten(&self, memory: &mut Memory) {
        memory.content.clear();
    }

    async fn restore(&self, tx: &mut WriteTx, memory: &mut Memory) -> Result<()> {
        if let Some(content) = &self.content {
            memory.content.clone_from(content);
            return Ok(());
        }
        match memories::find_for_update(tx, memory.id).await? {
            Some(now) if now.memory.version == memory.version => memory.content = now.memory.content,
            _ => {
                let detail = "this change was already made, and the memory has changed since; read it instead";
                return Err(Error::Conflict { code: "answer-gone", detail: detail.to_owned() });
            }
        }
        Ok(())
    }
}

async fn find(ctx: &Ctx, id: MemoryId) -> Result<Memory> {
    memories::find_all(&ctx.app.db, &ctx.principal, &[id]).await?.pop().ok_or_else(missing)
}

fn parse_id(memory: &str) -> Result<MemoryId> {
    memory.trim().parse().map_err(|_| missing())
}
