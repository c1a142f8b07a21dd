//! Finds the skills that have no vector of the present model: after a change of models, and where a job was lost.

use knowhow_store::enqueue_stale_embeddings;

use super::embed_skill::EmbedSkill;
use super::{JobResult, SystemJob, UserJob};
use crate::App;

/// Skills looked at in one statement.
const PAGE: i64 = 1000;

pub(super) struct EmbedStale;

impl SystemJob for EmbedStale {
    const TASK: &'static str = "embed_stale";
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let Some(embedder) = &app.models.embedder else { return Ok(()) };
        let enqueued = enqueue_stale_embeddings(&app.db, EmbedSkill::TASK, embedder.model(), PAGE).await?;
        if enqueued > 0 {
            tracing::info!(enqueued, model = embedder.model(), "skills are to be embedded");
        }
        Ok(())
    }
}
