//! Makes the vectors that memories of a user lack: those of a model that is new, and of memories whose own came too late.

use knowhow_domain::Result;
use knowhow_domain::job::task;
use knowhow_store::{Principal, TenantTx, memories};
use serde::Deserialize;
use uuid::Uuid;

use super::{JobResult, UserJob};
use crate::embed::{EmbedError, Embedder};
use crate::{App, Asker, Priority};

/// Memories whose vectors are made in one go.
const BATCH: i64 = 16;

#[derive(Deserialize)]
pub(super) struct EmbedMemories {}

impl UserJob for EmbedMemories {
    const TASK: &'static str = task::EMBED_MEMORIES;

    async fn run(self, app: &App, principal: &Principal, priority: Priority) -> JobResult {
        let embedder =
            app.models.embedder.as_deref().ok_or(EmbedError::NoModel).map_err(knowhow_domain::Error::from)?;
        let mut after = Uuid::nil();
        loop {
            let stale = memories::list_stale(&app.db, principal, embedder.model(), after, BATCH).await?;
            let Some((last, _)) = stale.last() else { return Ok(()) };
            after = *last;
            let made = embed(embedder, stale, (Asker::of(principal)?, priority)).await?;
            let mut tx = TenantTx::begin(&app.db, principal).await?;
            memories::put_embeddings(&mut tx, embedder.model(), &made, app.now()).await?;
            tx.commit().await?;
        }
    }
}

/// The vectors of texts by their ids. One that the model refuses for good is left out: a memory stays findable by its words.
pub(super) async fn embed(
    embedder: &dyn Embedder,
    memories: Vec<(Uuid, String)>,
    (asker, priority): (Asker, Priority),
) -> Result<Vec<(Uuid, Vec<f32>)>> {
    let (ids, texts): (Vec<Uuid>, Vec<String>) = memories.into_iter().unzip();
    match embedder.embed(texts.clone(), asker, priority, None).await {
        Ok(vectors) => return Ok(ids.into_iter().zip(vectors).collect()),
        Err(error) if error.is_transient() => return Err(error.into()),
        Err(_) => {}
    }
    let mut made = Vec::new();
    for (id, text) in ids.into_iter().zip(texts) {
        match embedder.embed(vec![text], asker, priority, None).await {
            Ok(vectors) => made.extend(vectors.into_iter().map(|vector| (id, vector))),
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error) => tracing::warn!(%error, "a text was not embedded"),
        }
    }
    Ok(made)
}
