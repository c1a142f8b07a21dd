//! Approving memories and versions of the soul that a tainted session wrote. Their texts never change, so an id, or a version,
//! names exactly what the person has read.

use knowhow_domain::{Error, Memory, MemoryId, Result, Scope, Soul};
use knowhow_store::{WriteTx, memories, souls};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::decide::check_comment;
use super::owner::{Reached, Whose, reach_user};
use crate::Ctx;

/// A person's word that a text can be trusted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct ApproveText {
    /// Whose text it is: of the query and of the header.
    #[serde(skip)]
    pub whose: Whose,
    /// Why, for the audit log.
    #[schema(max_length = 2000)]
    pub comment: Option<String>,
}

/// Approves a memory: it may stand in prompts, and what it says is known as good. One that is clean stays as it is.
///
/// # Errors
/// `NotFound`; `Forbidden` for whoever may not decide, the writer among them.
pub async fn approve_memory(ctx: &Ctx, memory: &str, input: &ApproveText) -> Result<Memory> {
    let missing = || Error::not_found("memory");
    let comment = check_comment(input.comment.as_deref())?;
    let reached = open(ctx, input, "memory.read").await?;
    let ctx = &reached.ctx;
    let id = memory.trim().parse::<MemoryId>().map_err(|_| missing())?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.approve").await?;
    let memories::Written { memory, writer } = memories::find_to_approve(&mut tx, id).await?.ok_or_else(missing)?;
    reached.require_reader(writer.as_deref())?;
    if !memory.tainted {
        return Ok(memory);
    }
    let now = ctx.now();
    memories::approve(&mut tx, id, comment, now);
    tx.commit().await?;
    let approved_by = Some(ctx.principal.shown_actor().to_owned());
    Ok(Memory { tainted: false, approved_by, approved_at: Some(now), ..memory })
}

/// Approves a version of the soul: while no later one is clean, prompts have it. Other versions keep their marks.
///
/// # Errors
/// As [`approve_memory`].
pub async fn approve_soul(ctx: &Ctx, version: i32, input: &ApproveText) -> Result<Soul> {
    let comment = check_comment(input.comment.as_deref())?;
    let reached = open(ctx, input, "soul.read").await?;
    let ctx = &reached.ctx;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "souls.approve").await?;
    let missing = || Error::not_found("version");
    let souls::WrittenSoul { soul, writer } = souls::find_to_approve(&mut tx, version).await?.ok_or_else(missing)?;
    reached.require_reader(Some(&writer))?;
    if !soul.tainted {
        return Ok(soul);
    }
    let now = ctx.now();
    souls::approve(&mut tx, version, comment, now);
    tx.commit().await?;
    let approved_by = Some(ctx.principal.shown_actor().to_owned());
    Ok(Soul { tainted: false, approved_by, approved_at: Some(now), ..soul })
}

async fn open(ctx: &Ctx, input: &ApproveText, action: &'static str) -> Result<Reached> {
    ctx.principal.require(Scope::Review)?;
    ctx.principal.require(Scope::Memories)?;
    let reached = reach_user(ctx, &input.whose, action).await?;
    reached.require_reviewer()?;
    Ok(reached)
}

impl Reached {
    /// Refuses whoever wrote it. Where nobody noted who did, it may have been any of the user's own credentials.
    fn require_reader(&self, writer: Option<&str>) -> Result<()> {
        match writer {
            Some(writer) => self.require_other_than(writer),
            None if self.as_admin => Ok(()),
            None => Err(Error::Forbidden("an admin: nobody noted who wrote it")),
        }
    }
}
