//! Makes the vectors that examples of a user lack: of messages whose own was not at hand, of imported ones, and those of a
//! model that is new.

use knowhow_domain::Error;
use knowhow_domain::job::task;
use knowhow_store::{TenantTx, examples};
use serde::Deserialize;
use uuid::Uuid;

use super::embed_memories::embed;
use super::{JobResult, UserJob};
use crate::embed::EmbedError;
use crate::examples::SAME_UP_TO;
use crate::{Asking, Ctx, Priority};

/// Examples whose vectors are made in one go.
const BATCH: i64 = 16;

#[derive(Deserialize)]
pub(super) struct EmbedExamples {}

impl UserJob for EmbedExamples {
    const TASK: &'static str = task::EMBED_EXAMPLES;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        let embedder = ctx.app.models.embedder.as_deref().ok_or(EmbedError::NoModel).map_err(Error::from)?;
        let mut after = Uuid::nil();
        while ctx.principal.settings().learns() {
            let stale = examples::list_stale(&ctx.app.db, &ctx.principal, embedder.model(), after, BATCH).await?;
            let Some((last, _)) = stale.last() else { break };
            after = *last;
            let made = embed(embedder, stale, Asking::of_job(&ctx.principal, priority)?).await?;
            let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal, "jobs.embed_examples").await?;
            examples::put_vectors(&mut tx, embedder.model(), &made, SAME_UP_TO).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}
