//! Saves memories.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::EntityName;
use knowhow_domain::kernel::bounds::share_or_null;
use knowhow_domain::{Error, FieldError, Memory, MemoryId, MemoryKind, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::sessions::memories::{self, AddedMemory, CORE_MEMORIES, MEMORIES, NewMemory};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::prepare::{WAIT, prepare_text};
use crate::Ctx;
use crate::change::guard::guard_memory;
use crate::context::idempotency::{LongText, Request};
use crate::graph::check_entities;

/// A memory to save.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "semantic", "content": "Prefers trains to planes", "importance": 0.8}))]
pub struct SaveMemory {
    /// The kind; `semantic` by default.
    pub kind: Option<MemoryKind>,
    /// The text; a core memory has at most 500 characters.
    #[schema(min_length = 1, max_length = 8000)]
    pub content: String,
    /// Importance, 0 to 1; 0.5 by default.
    #[serde(default, deserialize_with = "share_or_null")]
    #[schema(minimum = 0, maximum = 1)]
    pub importance: Option<f32>,
    /// Labels.
    #[schema(max_items = 32)]
    pub tags: Option<Vec<String>>,
    /// Whether to include the memory in every snapshot.
    pub core: Option<bool>,
    /// The session that the memory comes from; by default that of the header `Knowhow-Session`.
    #[schema(max_length = 255)]
    pub session: Option<String>,
    /// Id of a memory to delete, which this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub replaces: Option<String>,
    /// Time of creation, not in the future; by default now. For memories that are imported from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<DateTime<Utc>>,
    /// People, places, tools and skills that the memory names. Skills named in the content are detected
    /// automatically.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 32)]
    pub entities: Vec<EntityName>,
}

const CONTENT_CHARS: usize = 8_000;
/// Maximum number of characters in a core memory. It is lower than for other memories, because every prompt contains
/// all core memories.
const CORE_CHARS: usize = 500;

/// Saves a memory. It can be found immediately. If the user already has a memory with this text, no second one is
/// stored.
///
/// # Errors
/// - `Invalid`
/// - `NotFound` if the memory to replace does not exist
/// - `Conflict` `needs-review` if the call replaces a memory and comes from a tainted session
/// - `Quota` if the user has the maximum number of memories or core memories
pub async fn save_memory(ctx: &Ctx, input: &SaveMemory) -> Result<Memory> {
    ctx.principal.require(Scope::Memories)?;
    check(ctx, input)?;
    let replaced =
        input.replaces.as_deref().map(|id| id.trim().parse::<MemoryId>().map_err(|_| missing())).transpose()?;
    let text = prepare_text(ctx, &input.content, check_entities(&input.entities)?, WAIT).await?;
    let named = ctx.call.named(input.session.as_deref());
    let new = NewMemory {
        kind: input.kind.unwrap_or_default(),
        content: &input.content,
        tags: input.tags.as_deref().unwrap_or_default(),
        importance: input.importance.unwrap_or(0.5),
        core: input.core.unwrap_or_default(),
        session: input.session.as_deref().or(ctx.call.session.as_deref()),
        conversation: None,
        named: &named,
        is_doubtful: text.is_doubtful,
        embedding: text.embedding(ctx),
        now: ctx.now(),
    };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.save").await?;
    let memory = ctx
        .once_in_short(&mut tx, Request { asked: &("memory", input), long: &input }, async |tx| {
            if let Some(replaced) = replaced {
                guard_memory(ctx, tx).await?;
                if !memories::delete(tx, replaced, ctx.now()).await? {
                    return Err(missing());
                }
            }
            let created_at = input.created_at.unwrap_or(new.now);
            let AddedMemory { memory, is_new } = memories::add_once(tx, &new, created_at).await?.ok_or_else(full)?;
            if is_new {
                text.link(ctx, tx, &memory);
            }
            Ok(memory)
        })
        .await?;
    tx.commit().await?;
    Ok(memory)
}

/// The content is not stored with the answer, because a repeated request contains it.
impl LongText<Memory> for &SaveMemory {
    fn shorten(&self, memory: &mut Memory) {
        memory.content.clear();
    }

    async fn restore(&self, _: &mut WriteTx, memory: &mut Memory) -> Result<()> {
        memory.content.clone_from(&self.content);
        Ok(())
    }
}

pub(super) fn missing() -> Error {
    Error::not_found("memory")
}

pub(super) fn full() -> Error {
    Error::Quota(format!(
        "a user has at most {MEMORIES} memories, {CORE_MEMORIES} of them core; save it without core, or delete \
            some first"
    ))
}

fn check(ctx: &Ctx, input: &SaveMemory) -> Result<()> {
    let SaveMemory { content, importance, tags, core, session, created_at, .. } = input;
    let mut findings = list_findings(MemoryFields {
        content: Some(content),
        core: core.unwrap_or_default(),
        importance: *importance,
        tags: tags.as_deref().unwrap_or_default(),
    });
    if created_at.is_some_and(|created_at| created_at > ctx.now()) {
        findings.push(FieldError::new("/created_at", "must not be in the future"));
    }
    let is_good = |s: &String| (1..=255).contains(&s.chars().count()) && !s.chars().any(char::is_control);
    if session.as_ref().is_some_and(|session| !is_good(session)) {
        findings.push(FieldError::new("/session", "must have 1 to 255 characters and no control characters"));
    }
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}

/// Fields that both a new and a changed memory have.
#[derive(Clone, Copy, Default)]
pub(super) struct MemoryFields<'a> {
    /// The text; `None` if it stays unchanged.
    pub(super) content: Option<&'a str>,
    pub(super) core: bool,
    pub(super) importance: Option<f32>,
    pub(super) tags: &'a [String],
}

/// Checks fields of a memory.
///
/// # Errors
/// `Invalid`.
pub(super) fn check_fields(fields: MemoryFields<'_>) -> Result<()> {
    let findings = list_findings(fields);
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}

fn list_findings(fields: MemoryFields<'_>) -> Vec<FieldError> {
    let MemoryFields { content, core, importance, tags } = fields;
    let mut findings = Vec::new();
    let most = if core { CORE_CHARS } else { CONTENT_CHARS };
    if let Some(content) = content {
        let length = content.chars().count();
        if content.trim().is_empty() || length > most {
            findings.push(FieldError::new("/content", format!("must have 1 to {most} characters, has {length}")));
        }
        if content.contains('\0') {
            findings.push(FieldError::new("/content", "must not contain the character NUL (U+0000)"));
        }
    }
    if importance.is_some_and(|importance| !(0.0..=1.0).contains(&importance)) {
        findings.push(FieldError::new("/importance", "must be 0 to 1"));
    }
    let is_good = |tag: &String| (1..=100).contains(&tag.chars().count()) && !tag.chars().any(char::is_control);
    if tags.len() > 32 || !tags.iter().all(is_good) {
        findings.push(FieldError::new("/tags", "takes at most 32 tags of 1 to 100 characters"));
    }
    findings
}
