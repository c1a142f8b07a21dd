//! Save a memory.

use std::time::Duration;

use knowhow_domain::bounds::share_or_null;
use knowhow_domain::graph::{EntityKind, EntityName};
use knowhow_domain::{Error, FieldError, Memory, MemoryKind, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::memories::{self, CORE_MEMORIES, MEMORIES, NewMemory};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::Ctx;
use crate::graph::{Named, NamedSkills, check_entities, link_memory, named_skills};
use crate::once::{Long, Request};

/// A memory to keep.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "semantic", "content": "Prefers trains to planes", "importance": 0.8}))]
pub struct SaveMemory {
    /// What kind; `semantic` by default.
    pub kind: Option<MemoryKind>,
    /// What to remember; of a core memory at most 500 characters.
    #[schema(min_length = 1, max_length = 8000)]
    pub content: String,
    /// 0 to 1; 0.5 by default.
    #[serde(default, deserialize_with = "share_or_null")]
    #[schema(minimum = 0, maximum = 1)]
    pub importance: Option<f32>,
    /// Free labels.
    #[schema(max_items = 32)]
    pub tags: Option<Vec<String>>,
    /// Whether it belongs into every snapshot.
    pub core: Option<bool>,
    /// The conversation it comes from; by default that of the header `Knowhow-Session`.
    #[schema(max_length = 255)]
    pub session: Option<String>,
    /// What it names: people, places, tools, skills. Skills whose names occur in the content are found without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 32)]
    pub entities: Vec<EntityName>,
}

const CONTENT_CHARS: usize = 8_000;
/// A core memory is one line of every prompt.
const CORE_CHARS: usize = 500;
/// Longest wait for its vector; a memory without one is found by its words.
pub(super) const WAIT: Duration = Duration::from_secs(2);

/// Keeps a memory, and makes it findable at once.
///
/// # Errors
/// `Invalid`; `Quota` where the user has as many memories, or core memories, as can be.
pub async fn save_memory(ctx: &Ctx, input: &SaveMemory) -> Result<Memory> {
    ctx.principal.require(Scope::Memories)?;
    check(input)?;
    let mut entities = check_entities(&input.entities)?;
    let deadline = Instant::now() + WAIT;
    let embedding = crate::recall::embed_document(ctx, &input.content, Some(deadline));
    let (embedding, skills) = tokio::join!(embedding, named_skills(ctx, &input.content, &entities, deadline));
    let (embedding, NamedSkills { names, may_name }) = (embedding?, skills?);
    entities.extend(names.into_iter().map(|name| (EntityKind::Skill, name)));
    let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
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
        embedding: model.zip(embedding.as_deref()),
        now: ctx.now(),
    };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.save").await?;
    let kept = ctx
        .once_in_short(&mut tx, Request { asked: &("memory", input), long: &input }, async |tx| {
            let kept = memories::add(tx, &new).await?.ok_or_else(full)?;
            link_memory(ctx, tx, &kept, &Named { entities: &entities, may_name: &may_name });
            Ok(kept)
        })
        .await?;
    tx.commit().await?;
    Ok(kept)
}

/// The same request brings the same content.
impl Long<Memory> for &SaveMemory {
    fn shorten(&self, memory: &mut Memory) {
        memory.content.clear();
    }

    async fn restore(&self, _: &mut WriteTx, memory: &mut Memory) -> Result<()> {
        memory.content.clone_from(&self.content);
        Ok(())
    }
}

fn full() -> Error {
    Error::Quota(format!(
        "a user keeps at most {MEMORIES} memories, {CORE_MEMORIES} of them core; save it without core, or \
         delete some that are no use any more"
    ))
}

fn check(input: &SaveMemory) -> Result<()> {
    let mut findings = Vec::new();
    let most = if input.core.unwrap_or_default() { CORE_CHARS } else { CONTENT_CHARS };
    let length = input.content.chars().count();
    if input.content.trim().is_empty() || length > most || input.content.contains('\0') {
        findings.push(FieldError::new("/content", format!("must have 1 to {most} characters, has {length}")));
    }
    if input.importance.is_some_and(|importance| !(0.0..=1.0).contains(&importance)) {
        findings.push(FieldError::new("/importance", "must be 0 to 1"));
    }
    let tags = input.tags.as_deref().unwrap_or_default();
    let good = |tag: &String| (1..=100).contains(&tag.chars().count()) && !tag.chars().any(char::is_control);
    if tags.len() > 32 || !tags.iter().all(good) {
        findings.push(FieldError::new("/tags", "takes at most 32 tags of 1 to 100 characters"));
    }
    if input
        .session
        .as_ref()
        .is_some_and(|s| !(1..=255).contains(&s.chars().count()) || s.chars().any(char::is_control))
    {
        findings.push(FieldError::new("/session", "must have 1 to 255 characters and no control characters"));
    }
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}
