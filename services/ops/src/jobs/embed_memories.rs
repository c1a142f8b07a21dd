//! Makes the vectors that memories of a user lack: those of a model that is new, and of memories whose own came too late.

use knowhow_domain::Result;
use knowhow_domain::job::task;
use knowhow_store::{TenantTx, memories};
use serde::Deserialize;
use uuid::Uuid;

use super::{JobResult, UserJob};
use crate::embed::{EmbedError, Embedder};
use crate::{Asking, Ctx, Priority};

/// Memories whose vectors are made in one go.
const BATCH: i64 = 16;

#[derive(Deserialize)]
pub(super) struct EmbedMemories {}

impl UserJob for EmbedMemories {
    const TASK: &'static str = task::EMBED_MEMORIES;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        let embedder =
            ctx.app.models.embedder.as_deref().ok_or(EmbedError::NoModel).map_err(knowhow_domain::Error::from)?;
        let mut after = Uuid::nil();
        loop {
            let stale = memories::list_stale(&ctx.app.db, &ctx.principal, embedder.model(), after, BATCH).await?;
            let Some((last, _)) = stale.last() else { return Ok(()) };
            after = *last;
            let made = embed(embedder, stale, Asking::of_job(&ctx.principal, priority)?).await?;
            let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal, "jobs.embed_memories").await?;
            memories::put_embeddings(&mut tx, embedder.model(), &made, ctx.now()).await?;
            tx.commit().await?;
        }
    }
}

/// The vectors of texts by their ids. One that the model refuses for good is left out: a memory stays findable by its words.
pub(super) async fn embed(
    embedder: &dyn Embedder,
    memories: Vec<(Uuid, String)>,
    asking: Asking,
) -> Result<Vec<(Uuid, Vec<f32>)>> {
    let Asking { asker, priority, deadline } = asking;
    let (ids, texts): (Vec<Uuid>, Vec<String>) = memories.into_iter().unzip();
    match embedder.embed(texts.clone(), asker, priority, deadline).await {
        Ok(vectors) => return Ok(ids.into_iter().zip(vectors).collect()),
        Err(error) if error.is_transient() => return Err(error.into()),
        Err(_) => {}
    }
    let mut made = Vec::new();
    for (id, text) in ids.into_iter().zip(texts) {
        match embedder.embed(vec![text], asker, priority, deadline).await {
            Ok(vectors) => made.extend(vectors.into_iter().map(|vector| (id, vector))),
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error) => tracing::warn!(%error, "a text was not embedded"),
        }
    }
    Ok(made)
}
