//! Approves memories and soul versions that were written in tainted sessions. A version identifies exactly the text that
//! was reviewed.

use knowhow_domain::{Error, Memory, MemoryId, Result, Scope, Soul};
use knowhow_store::WriteTx;
use knowhow_store::sessions::{memories, souls};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::decide::check_comment;
use super::owner::{AccessedOwner, Whose, access_user};
use crate::Ctx;

/// An approval of a memory or of a version of the soul.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct ApproveText {
    /// The owner of the text. It comes from the query and the header.
    #[serde(skip)]
    pub whose: Whose,
    /// The reason, which is stored in the audit log.
    #[schema(max_length = 2000)]
    pub comment: Option<String>,
    /// The version of the memory that was read. Any other version is a conflict. A version of the soul is in the path.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// Approves a memory, so that prompts can contain it and its text counts as trusted. A memory without taint stays
/// unchanged.
///
/// # Errors
/// `NotFound`; `VersionConflict` if `expected_version` is not the current version; `Forbidden` for the writer and for
/// other callers without the right to decide.
pub async fn approve_memory(ctx: &Ctx, memory: &str, input: &ApproveText) -> Result<Memory> {
    let missing = || Error::not_found("memory");
    let comment = check_comment(input.comment.as_deref())?;
    let accessed = open(ctx, input, "memory.read").await?;
    let ctx = &accessed.ctx;
    let id = memory.trim().parse::<MemoryId>().map_err(|_| missing())?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.approve").await?;
    let memories::MemoryWithWriter { memory, writer } =
        memories::find_for_update(&mut tx, id).await?.ok_or_else(missing)?;
    accessed.require_reader(writer.as_deref())?;
    if input.expected_version.is_some_and(|expected| expected != memory.version) {
        return Err(Error::VersionConflict { current_version: memory.version });
    }
    if !memory.tainted {
        return Ok(memory);
    }
    let now = ctx.now();
    memories::approve(&mut tx, id, comment, now);
    tx.commit().await?;
    let approved_by = Some(ctx.principal.shown_actor().to_owned());
    Ok(Memory { tainted: false, approved_by, approved_at: Some(now), ..memory })
}

/// Approves a version of the soul. Prompts use this version, unless a later one is not tainted. Other versions stay
/// tainted.
pub async fn approve_soul(ctx: &Ctx, version: i32, input: &ApproveText) -> Result<Soul> {
    let comment = check_comment(input.comment.as_deref())?;
    let accessed = open(ctx, input, "soul.read").await?;
    let ctx = &accessed.ctx;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "souls.approve").await?;
    let missing = || Error::not_found("version");
    let souls::WrittenSoul { soul, writer } = souls::find_to_approve(&mut tx, version).await?.ok_or_else(missing)?;
    accessed.require_reader(Some(&writer))?;
    if !soul.tainted {
        return Ok(soul);
    }
    let now = ctx.now();
    souls::approve(&mut tx, version, comment, now);
    tx.commit().await?;
    let approved_by = Some(ctx.principal.shown_actor().to_owned());
    Ok(Soul { tainted: false, approved_by, approved_at: Some(now), ..soul })
}

async fn open(ctx: &Ctx, input: &ApproveText, action: &'static str) -> Result<AccessedOwner> {
    ctx.principal.require(Scope::Review)?;
    ctx.principal.require(Scope::Memories)?;
    let accessed = access_user(ctx, &input.whose, action).await?;
    accessed.require_reviewer()?;
    Ok(accessed)
}

impl AccessedOwner {
    /// Rejects a caller who wrote the text. If the writer is unknown, only an admin is accepted, because any
    /// credential of the user may have written the text.
    fn require_reader(&self, writer: Option<&str>) -> Result<()> {
        match writer {
            Some(writer) => self.require_other_than(writer),
            None if self.as_admin => Ok(()),
            None => Err(Error::Denied("only an admin approves this text, because its author is unknown")),
        }
    }
}
